import { Alert, Checkbox, Group, NativeSelect, SimpleGrid, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { notifications } from "@mantine/notifications";
import { usePutSso } from "../../api/business-sso";
import type { Role, SsoProvider } from "../../api/types";
import { ROLE_LABELS } from "../../app/session";
import { CallButton } from "../../components/call-button";
import { FormErrors, focusFirstError } from "../../components/form-errors";
import { PasswordField } from "../../components/password-field";
import { Section } from "../../components/section";
import { SsoGroups } from "./sso-groups";

/** Owners are never made by default. */
const DEFAULTS: Role[] = ["developer", "finance", "support", "viewer"];

/** The provider, and whom it lets in. */
export function SsoForm({ provider }: { provider: SsoProvider | null }) {
  const put = usePutSso();
  const form = useForm({
    initialValues: {
      issuer: provider?.issuer ?? "",
      clientId: provider?.clientId ?? "",
      clientSecret: "",
      scopes: provider?.scopes ?? "email profile",
      groupsClaim: provider?.groupsClaim ?? "groups",
      groupRoles: provider?.groupRoles ?? [],
      defaultRole: (provider?.defaultRole ?? "") as Role | "",
      allowedDomains: provider?.allowedDomains.join(", ") ?? "",
      required: provider?.required ?? false,
    },
    validate: {
      issuer: (issuer) => (issuer.trim() === "" ? "Enter the issuer." : null),
      clientId: (clientId) => (clientId.trim() === "" ? "Enter the client id." : null),
      clientSecret: (secret) => (secret === "" && !provider ? "Enter the client secret." : null),
    },
  });
  const groups = form.values.groupRoles.filter(({ group }) => group.trim() !== "");
  const domains = form.values.allowedDomains.split(/[\s,]+/).filter((domain) => domain !== "");
  const hasDefault = form.values.defaultRole !== "";
  const submit = form.onSubmit(({ clientSecret, defaultRole, ...values }) => {
    const body = {
      ...values,
      groupRoles: groups,
      allowedDomains: domains,
      ...(clientSecret !== "" && { clientSecret }),
      ...(defaultRole !== "" && { defaultRole }),
    };
    put.mutate(body, {
      onSuccess: () => {
        form.setFieldValue("clientSecret", "");
        notifications.show({ message: "Saved. Now test the provider." });
      },
    });
  }, focusFirstError(form));
  return (
    <Section title="Identity provider" description="An OpenID Connect provider of your company.">
      <form onSubmit={submit} noValidate>
        <Stack>
          <FormErrors error={put.error} form={form} />
          <TextInput
            label="Issuer"
            description="Exactly as the provider names it, such as https://id.example.com."
            type="url"
            autoComplete="off"
            spellCheck={false}
            {...form.getInputProps("issuer")}
          />
          <TextInput
            label="Client id"
            autoComplete="off"
            spellCheck={false}
            {...form.getInputProps("clientId")}
          />
          <PasswordField
            label="Client secret"
            description={provider ? "Leave it empty to keep the present one." : "It is never shown again."}
            autoComplete="new-password"
            {...form.getInputProps("clientSecret")}
          />
          <SimpleGrid cols={{ base: 1, sm: 2 }}>
            <TextInput
              label="Scopes"
              description="Separated by spaces."
              spellCheck={false}
              {...form.getInputProps("scopes")}
            />
            <TextInput
              label="Claim with groups"
              description="Its name in the ID token."
              spellCheck={false}
              {...form.getInputProps("groupsClaim")}
            />
          </SimpleGrid>
          <SsoGroups
            value={form.values.groupRoles}
            onChange={(groupRoles) => form.setFieldValue("groupRoles", groupRoles)}
            error={form.errors.groupRoles}
          />
          <NativeSelect
            label="Everybody else"
            description="People at the provider who are in none of these groups."
            data={[
              { value: "", label: "Cannot log in" },
              ...DEFAULTS.map((role) => ({ value: role, label: ROLE_LABELS[role] })),
            ]}
            {...form.getInputProps("defaultRole")}
          />
          {hasDefault && (
            <TextInput
              label="Allowed domains"
              description="Everybody else needs a verified e-mail address of one of these domains, such as shop.example."
              spellCheck={false}
              {...form.getInputProps("allowedDomains")}
            />
          )}
          {hasDefault && domains.length === 0 && (
            <Alert role="note" color="yellow" variant="light" title="Without a domain">
              {groups.length === 0
                ? "A public provider such as Google knows everybody, so that anybody could log in. Enter the domains of your company."
                : "Everybody whom the provider puts into any group can log in."}
            </Alert>
          )}
          <Checkbox
            label="Require single sign-on"
            description="Only owners may then log in with a password. The sessions of all others that were opened with a password end."
            {...form.getInputProps("required", { type: "checkbox" })}
          />
          <Group justify="flex-end">
            <CallButton type="submit" loading={put.isPending}>
              {provider ? "Save changes" : "Turn on single sign-on"}
            </CallButton>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}
