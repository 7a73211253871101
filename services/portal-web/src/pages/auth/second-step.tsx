import { Anchor, Button } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useState } from "react";
import { isCode } from "../../api/failure";
import { type FactorAnswer, isPasskeyOrigin, usePasskey } from "../../api/passkeys";
import type { AccountScope } from "../../api/recent-authentication";
import type { Challenge } from "../../api/types";
import { CodeField } from "../../components/code-field";
import { UsePasskeyButton } from "../../components/two-factor/use-passkey-button";
import { AuthForm } from "./auth-form";
import { AuthFrame } from "./auth-frame";

interface SecondStepProps {
  scope: AccountScope;
  challenge: Challenge;
  /** The call that completes the log-in. */
  call: { error: unknown; isPending: boolean; mutate: (answer: FactorAnswer) => void; reset: () => void };
  /** Back to the password. */
  onBack: () => void;
}

/** The second step of a log-in: a passkey, a code of the authenticator app, or a recovery code. */
export function SecondStep({ scope, challenge, call, onBack }: SecondStepProps) {
  const hasPasskey = isPasskeyOrigin(challenge.passkeyOrigin);
  const passkey = usePasskey(scope, "logIn");
  const [usesRecovery, setUsesRecovery] = useState(false);
  const form = useForm({
    mode: "uncontrolled",
    initialValues: { code: "" },
    validate: { code: (code) => (code.trim() === "" ? "Enter a code." : null) },
  });
  function toggle() {
    setUsesRecovery(!usesRecovery);
    form.reset();
    restart();
  }
  function restart() {
    passkey.reset();
    call.reset();
  }
  function submit({ code }: { code: string }) {
    passkey.reset();
    call.mutate({ code });
  }
  function submitPasskey() {
    restart();
    passkey.mutate(undefined, { onSuccess: call.mutate });
  }
  const error = passkey.error ?? call.error;
  const field = usesRecovery
    ? { label: "Recovery code", description: "Each recovery code works once.", autoComplete: "off" }
    : { description: "Six digits that change every 30 seconds.", inputMode: "numeric" as const };
  return (
    <AuthFrame
      title={hasPasskey ? "Confirm it’s you" : "Enter your code"}
      description="Your account is protected by two-factor authentication."
      footer={
        <>
          <Anchor component="button" type="button" size="sm" onClick={toggle}>
            {usesRecovery ? "Use your authenticator app" : "Use a recovery code"}
          </Anchor>
          {" · "}
          <Anchor component="button" type="button" size="sm" onClick={onBack}>
            Back to login
          </Anchor>
        </>
      }
    >
      <AuthForm
        form={form}
        call={{ error, isPending: call.isPending }}
        onSubmit={submit}
        act="Continue"
        isSecondary={hasPasskey}
      >
        {isCode(error, "challenge_ended") && (
          <Button variant="default" onClick={onBack} fullWidth>
            Enter your password again
          </Button>
        )}
        {hasPasskey && (
          <UsePasskeyButton
            isPending={passkey.isPending}
            onClick={submitPasskey}
            or="or with a code"
            autoFocus
          />
        )}
        <CodeField
          {...field}
          autoFocus={!hasPasskey || usesRecovery}
          key={`${usesRecovery} ${form.key("code")}`}
          {...form.getInputProps("code")}
        />
      </AuthForm>
    </AuthFrame>
  );
}
