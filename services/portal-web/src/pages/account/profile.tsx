import { Stack } from "@mantine/core";
import { useChangeName, useRenameBusiness } from "../../api/profile";
import { useMay, useSession } from "../../app/session";
import { Fact, Facts } from "../../components/facts";
import { Section } from "../../components/section";
import { EmailSettings } from "./email-settings";
import { NameForm } from "./name-form";

/** The user's own name and e-mail address, and the name of the business for its owners. */
export function Profile() {
  const session = useSession();
  const changeName = useChangeName();
  const rename = useRenameBusiness();
  const mayRename = useMay("manage_business");
  // The session of an identity provider changes nothing of the account.
  const ofAccount = !session.singleSignOn;
  return (
    <Section title="Profile" description="How your team and your delivery company see you.">
      <Stack maw={520} gap="lg">
        {ofAccount && (
          <NameForm
            label="Your name"
            description="Optional. Your team sees it next to your e-mail address."
            autoComplete="name"
            name={session.name ?? ""}
            max={100}
            act="Save name"
            field="name"
            save={(name) => changeName.mutateAsync(name === "" ? null : name)}
          />
        )}
        {ofAccount ? <EmailSettings /> : <ProviderProfile />}
        {mayRename && (
          <NameForm
            label="Name of the business"
            description="Shown to your team, in invitations and to your delivery company."
            autoComplete="organization"
            name={session.businessName}
            max={120}
            act="Rename business"
            field="businessName"
            required="Enter the name of the business."
            save={(name) => rename.mutateAsync(name)}
          />
        )}
      </Stack>
    </Section>
  );
}

function ProviderProfile() {
  const { name, email } = useSession();
  return (
    <Facts>
      <Fact name="Your name">{name}</Fact>
      <Fact name="E-mail address">{email}</Fact>
    </Facts>
  );
}
