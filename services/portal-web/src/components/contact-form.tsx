import { SimpleGrid, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { notifications } from "@mantine/notifications";
import { useMutation } from "@tanstack/react-query";
import type { components } from "../api/schema";
import { CallButton } from "./call-button";
import { FormErrors, focusFirstError } from "./form-errors";

type Contact = components["schemas"]["ContactView"];

interface ContactFormProps {
  contact: Contact;
  save: (contact: components["schemas"]["ChangeContact"]) => Promise<unknown>;
}

/** Whom the operator asks about a business, and its tax number. The server checks the number. */
export function ContactForm({ contact, save }: ContactFormProps) {
  const { name, email, phone, gstin } = contact;
  const form = useForm({
    // Other forms of the page have fields with the same names.
    name: "contact",
    mode: "uncontrolled",
    initialValues: { name: name ?? "", email: email ?? "", phone: phone ?? "", gstin: gstin ?? "" },
  });
  const change = useMutation({ mutationFn: save });
  const submit = form.onSubmit(
    (values) =>
      change.mutate(
        {
          name: values.name.trim() || null,
          email: values.email.trim() || null,
          phone: values.phone.trim() || null,
          gstin: values.gstin.trim() || null,
        },
        { onSuccess: () => notifications.show({ message: "Saved." }) },
      ),
    focusFirstError(form),
  );
  return (
    <form onSubmit={submit} noValidate>
      <Stack maw={640}>
        <FormErrors error={change.error} form={form} />
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          <TextInput
            label="Contact name"
            maxLength={120}
            key={form.key("name")}
            {...form.getInputProps("name")}
          />
          <TextInput
            label="Contact phone"
            type="tel"
            key={form.key("phone")}
            {...form.getInputProps("phone")}
          />
          <TextInput
            label="Contact e-mail"
            type="email"
            key={form.key("email")}
            {...form.getInputProps("email")}
          />
          <TextInput
            label="GSTIN"
            description="15 characters, such as 29AAGCB7383J1Z4."
            maxLength={40}
            key={form.key("gstin")}
            {...form.getInputProps("gstin")}
          />
        </SimpleGrid>
        <CallButton
          type="submit"
          size="xs"
          variant="default"
          loading={change.isPending}
          style={{ alignSelf: "flex-start" }}
        >
          Save contact
        </CallButton>
      </Stack>
    </form>
  );
}
