import { Stack, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation } from "@tanstack/react-query";
import { answer, api } from "../api/client";
import { operatorAnswer, useOperatorLogIn, useOperatorSession } from "../api/operator-session";
import { type FactorAnswer, isPasskeyOrigin, usePasskey } from "../api/passkeys";
import type { AccountScope } from "../api/recent-authentication";
import { useFactor } from "../api/second-factor";
import { useSessionQuery } from "../api/session";
import { CodeField } from "../components/code-field";
import { Dialog } from "../components/dialog";
import { DialogActions } from "../components/dialog-actions";
import { FormErrors, focusFirstError } from "../components/form-errors";
import { PasswordField } from "../components/password-field";
import { UsePasskeyButton } from "../components/two-factor/use-passkey-button";
import { ConfirmWithSso } from "./confirm-with-sso";

interface ConfirmIdentityDialogProps {
  scope: AccountScope;
  onSettled: (isConfirmed: boolean) => void;
}

/** Confirms the session: at the identity provider or with the installation token that has opened it, or with the password. */
export default function ConfirmIdentityDialog({ scope, onSettled }: ConfirmIdentityDialogProps) {
  const ofOperator = useOperatorSession(scope === "operator").data;
  const ofUser = useSessionQuery(scope === "portal").data;
  const isOfProvider = (scope === "operator" ? ofOperator : ofUser)?.singleSignOn === true;
  const isOfToken = scope === "operator" && ofOperator?.type === "configuration";
  return (
    <Dialog
      opened
      onClose={() => onSettled(false)}
      title={<Text fw={600}>Confirm it’s you</Text>}
      zIndex={300}
    >
      {isOfProvider ? (
        <ConfirmWithSso scope={scope} onCancel={() => onSettled(false)} />
      ) : isOfToken ? (
        <TokenForm onSettled={onSettled} />
      ) : (
        <PasswordForm scope={scope} onSettled={onSettled} />
      )}
    </Dialog>
  );
}

/** With a code if the account has a second factor. A passkey replaces both. */
function PasswordForm({ scope, onSettled }: ConfirmIdentityDialogProps) {
  const factor = useFactor(scope).data;
  const hasFactor = factor?.enrolled ?? false;
  const hasPasskey = Boolean(factor?.passkeys) && isPasskeyOrigin(factor?.passkeyOrigin);
  const passkey = usePasskey(scope, "confirm");
  const confirm = useConfirmSession(scope);
  const form = useForm({
    mode: "uncontrolled",
    initialValues: { password: "", code: "" },
    validate: {
      password: (password) => (password === "" ? "Enter your password." : null),
      code: (code) => (hasFactor && code.trim() === "" ? "Enter a code." : null),
    },
  });
  const submit = form.onSubmit(({ password, code }) => {
    passkey.reset();
    send(hasFactor ? { password, code } : { password });
  }, focusFirstError(form));
  function send(body: Confirmation) {
    confirm.mutate(body, { onSuccess: () => onSettled(true) });
  }
  function submitPasskey() {
    confirm.reset();
    passkey.mutate(undefined, { onSuccess: send });
  }
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <Text>
          Your last login was some time ago.{" "}
          {hasPasskey ? "Confirm that it is you to continue." : "Enter your password again to continue."}
        </Text>
        <FormErrors error={passkey.error ?? confirm.error} form={form} />
        {hasPasskey && (
          <UsePasskeyButton
            isPending={passkey.isPending}
            onClick={submitPasskey}
            or="or with your password and a code"
            data-autofocus
          />
        )}
        <PasswordField
          label="Your password"
          autoComplete="current-password"
          data-autofocus={hasPasskey ? undefined : true}
          key={form.key("password")}
          {...form.getInputProps("password")}
        />
        {hasFactor && <CodeField key={form.key("code")} {...form.getInputProps("code")} />}
        <DialogActions
          isPending={confirm.isPending}
          isSecondary={hasPasskey}
          onCancel={() => onSettled(false)}
        >
          Confirm
        </DialogActions>
      </Stack>
    </form>
  );
}

/** A new login with the token takes the place of the session. */
function TokenForm({ onSettled }: Pick<ConfirmIdentityDialogProps, "onSettled">) {
  const logIn = useOperatorLogIn();
  const form = useForm({
    mode: "uncontrolled",
    initialValues: { token: "" },
    validate: { token: (token) => (token.trim() === "" ? "Enter the installation token." : null) },
  });
  const submit = form.onSubmit(
    ({ token }) => logIn.mutate({ token: token.trim() }, { onSuccess: () => onSettled(true) }),
    focusFirstError(form),
  );
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <Text>Your last login was some time ago. Enter the installation token again to continue.</Text>
        <FormErrors error={logIn.error} form={form} />
        <PasswordField
          label="Installation token"
          autoComplete="current-password"
          data-autofocus
          key={form.key("token")}
          {...form.getInputProps("token")}
        />
        <DialogActions isPending={logIn.isPending} onCancel={() => onSettled(false)}>
          Confirm
        </DialogActions>
      </Stack>
    </form>
  );
}

type Confirmation = { password: string; code?: string } | Exclude<FactorAnswer, { code: string }>;

function useConfirmSession(scope: AccountScope) {
  return useMutation({
    mutationFn: (body: Confirmation) =>
      scope === "portal"
        ? answer(api.POST("/v1/portal/session/confirm", { body }))
        : operatorAnswer(api.POST("/v1/operator/session/confirm", { body })),
    // The password must not stay in memory.
    gcTime: 0,
  });
}
