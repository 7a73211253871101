import { Text } from "@mantine/core";
import { type BusinessDetails, useChangeContactOf } from "../../api/operator-businesses";
import { useMay } from "../../api/operator-session";
import { ContactForm } from "../../components/contact-form";
import { Fact, Facts } from "../../components/facts";
import { Section } from "../../components/section";
import { Party } from "../orders/order-parties";

/** Whom the staff asks about the business, and its tax number. Its owners change them too. */
export function BusinessContact({ business: { id, contact } }: { business: BusinessDetails }) {
  const mayChange = useMay("change_businesses");
  const change = useChangeContactOf(id);
  return (
    <Section title="Contact" description="The owners of the business see and change it too.">
      {mayChange ? (
        <ContactForm contact={contact} save={(changed) => change.mutateAsync(changed)} />
      ) : (
        <Facts>
          <Fact name="Contact name">{contact.name ?? "–"}</Fact>
          <Fact name="Contact phone">{contact.phone ?? "–"}</Fact>
          <Fact name="Contact e-mail">{contact.email ?? "–"}</Fact>
          <Fact name="GSTIN">{contact.gstin ?? "–"}</Fact>
        </Facts>
      )}
    </Section>
  );
}

/** Where drivers pick up its parcels. Its users change it. */
export function BusinessPickup({ business: { pickupProfile: profile } }: { business: BusinessDetails }) {
  const { businessName, contactName, phone, latitude, longitude, fullAddress } = profile;
  return (
    <Section title="Pickup profile" description="Of orders that name no pickup address of their own.">
      {profile.complete ? (
        <Facts>
          <Fact name="Pickup from">
            <Party name={businessName} note={contactName} phone={phone} address={profile} />
          </Fact>
          <Fact name="Full address">{fullAddress}</Fact>
          <Fact name="Coordinates">{latitude != null && `${latitude}, ${longitude}`}</Fact>
        </Facts>
      ) : (
        <Text c="dimmed">Not filled in yet.</Text>
      )}
    </Section>
  );
}
