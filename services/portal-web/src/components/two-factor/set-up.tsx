import { Button, Group, List, Stack, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useEffect } from "react";
import type { AccountScope } from "../../api/recent-authentication";
import { useConfirmFactor, useStartFactor } from "../../api/second-factor";
import type { Enrolment } from "../../api/types";
import { CallButton } from "../call-button";
import { CodeField } from "../code-field";
import { CopyButton } from "../copy-button";
import { ErrorState } from "../error-state";
import { FormErrors, focusFirstError } from "../form-errors";
import { Loading } from "../loading";
import classes from "./set-up.module.css";

interface SetUpProps {
  scope: AccountScope;
  /** Not offered where the role requires the second factor. */
  onCancel?: () => void;
  /** With the recovery codes, which are shown once. */
  onDone: (codes: string[]) => void;
}

/** Shows the secret for the app, and turns on the second factor with the app's first code. */
export function SetUp({ scope, onCancel, onDone }: SetUpProps) {
  const { mutate, data, error } = useStartFactor(scope);
  useEffect(() => mutate(), [mutate]);
  if (data) return <Confirm scope={scope} enrolment={data} onCancel={onCancel} onDone={onDone} />;
  if (error) return <ErrorState error={error} title="It could not be started" onRetry={() => mutate()} />;
  return <Loading what="Preparing" height={240} />;
}

function Confirm({ scope, enrolment, onCancel, onDone }: SetUpProps & { enrolment: Enrolment }) {
  const confirm = useConfirmFactor(scope);
  const form = useForm({
    mode: "uncontrolled",
    initialValues: { code: "" },
    validate: { code: (code) => (code.trim() === "" ? "Enter the code that your app shows." : null) },
  });
  const submit = form.onSubmit(({ code }) => {
    confirm.mutate(code, { onSuccess: ({ recoveryCodes }) => onDone(recoveryCodes) });
  }, focusFirstError(form));
  return (
    <form onSubmit={submit} noValidate>
      <Stack maw={460}>
        <List type="ordered" spacing="xs">
          <List.Item>Install an authenticator app on your phone.</List.Item>
          <List.Item>Scan this QR code with it, or enter the secret by hand.</List.Item>
          <List.Item>Enter the six digits that the app shows.</List.Item>
        </List>
        <img
          className={classes.code}
          src={enrolment.qrCode}
          alt="QR code for your authenticator app"
          width={220}
          height={220}
        />
        <Group gap="xs" wrap="nowrap" align="flex-start">
          <Text className={classes.secret} component="output" aria-label="Secret for your app">
            {enrolment.secret}
          </Text>
          <CopyButton value={enrolment.secret} label="Copy the secret" />
        </Group>
        <FormErrors error={confirm.error} form={form} />
        <CodeField
          description="Six digits that change every 30 seconds."
          inputMode="numeric"
          autoFocus
          key={form.key("code")}
          {...form.getInputProps("code")}
        />
        <Group gap="xs">
          <CallButton type="submit" loading={confirm.isPending}>
            Turn on
          </CallButton>
          {onCancel && (
            <Button variant="default" onClick={onCancel} disabled={confirm.isPending}>
              Cancel
            </Button>
          )}
        </Group>
      </Stack>
    </form>
  );
}
