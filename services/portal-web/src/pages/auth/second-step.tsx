import { Anchor, Button } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useState } from "react";
import { isCode } from "../../api/failure";
import { CodeField } from "../../components/code-field";
import { AuthForm } from "./auth-form";
import { AuthFrame } from "./auth-frame";

interface SecondStepProps {
  /** The call that completes the log-in. */
  call: { error: unknown; isPending: boolean; mutate: (code: string) => void; reset: () => void };
  /** Back to the password. */
  onBack: () => void;
}

/** The second step of a log-in: a code of the authenticator app, or a recovery code. */
export function SecondStep({ call, onBack }: SecondStepProps) {
  const [usesRecovery, setUsesRecovery] = useState(false);
  const form = useForm({
    mode: "uncontrolled",
    initialValues: { code: "" },
    validate: { code: (code) => (code.trim() === "" ? "Enter a code." : null) },
  });
  function toggle() {
    setUsesRecovery(!usesRecovery);
    form.reset();
    call.reset();
  }
  const field = usesRecovery
    ? { label: "Recovery code", description: "Each recovery code works once.", autoComplete: "off" }
    : { description: "Six digits that change every 30 seconds.", inputMode: "numeric" as const };
  return (
    <AuthFrame
      title="Enter your code"
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
      <AuthForm form={form} call={call} onSubmit={({ code }) => call.mutate(code)} act="Continue">
        {isCode(call.error, "challenge_ended") && (
          <Button variant="default" onClick={onBack} fullWidth>
            Enter your password again
          </Button>
        )}
        <CodeField
          {...field}
          autoFocus
          key={`${usesRecovery} ${form.key("code")}`}
          {...form.getInputProps("code")}
        />
      </AuthForm>
    </AuthFrame>
  );
}
