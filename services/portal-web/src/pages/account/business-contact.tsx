import { useChangeContact, useContact } from "../../api/profile";
import { ContactForm } from "../../components/contact-form";
import { ErrorState } from "../../components/error-state";
import { Loading } from "../../components/loading";
import { Section } from "../../components/section";

/** Whom the delivery company asks about the business; for its owners. */
export function BusinessContact() {
  const contact = useContact();
  const change = useChangeContact();
  return (
    <Section
      title="Contact of the business"
      description="Optional. Whom your delivery company asks about the business, and the number for its invoices."
    >
      {contact.data ? (
        <ContactForm contact={contact.data} save={(changed) => change.mutateAsync(changed)} />
      ) : contact.error ? (
        <ErrorState error={contact.error} onRetry={() => contact.refetch()} />
      ) : (
        <Loading what="Loading the contact" height={160} />
      )}
    </Section>
  );
}
