import { Button, Group, NativeSelect, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDisclosure } from "@mantine/hooks";
import { IconPlus } from "@tabler/icons-react";
import { useState } from "react";
import {
  useCreateToken,
  useDisableToken,
  useOperatorTokens,
  useRotateToken,
} from "../../api/operator-access";
import type { OperatorRole, OperatorToken } from "../../api/types";
import { InlineCode } from "../../components/code-block";
import { ConfirmButton } from "../../components/confirm-button";
import type { Column } from "../../components/data-table";
import { Dialog } from "../../components/dialog";
import { DialogActions } from "../../components/dialog-actions";
import { EmptyState } from "../../components/empty-state";
import { FormErrors, focusFirstError } from "../../components/form-errors";
import { ListFrame } from "../../components/list-section";
import { PageHeader } from "../../components/page-header";
import { SecretOnce } from "../../components/secret-once";
import { StatusBadge } from "../../components/status-badge";
import { Time } from "../../components/time";
import { NAME_CHARS_MAX } from "./invite-staff-dialog";
import { OPERATOR_ROLE_CHOICES, OPERATOR_ROLE_LABELS } from "./operator-roles";

/** The old secret of a rotated token works for this long. */
const GRACE_SECONDS = 24 * 3_600;

interface Secret {
  name: string;
  token: string;
}

export function Component() {
  const [isCreating, { open, close }] = useDisclosure(false);
  // Shown outside the table's rows, which each refetch replaces.
  const [secret, setSecret] = useState<Secret | null>(null);
  return (
    <>
      <PageHeader
        title="Tokens"
        description={
          <>
            For programs that call the operator API. They open no console, and manage neither staff nor
            tokens. The installation token, <InlineCode>WAYBILL_OPERATOR__TOKEN</InlineCode>, is an
            administrator too: change it in the settings.
          </>
        }
        actions={
          <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={open}>
            Create token
          </Button>
        }
      />
      <ListFrame
        label="Tokens"
        list={useOperatorTokens()}
        failed="The tokens could not be loaded"
        columns={[...COLUMNS, actions(setSecret)]}
        rowKey={(token) => token.id}
        empty={
          <EmptyState title="No tokens yet">Create one for each program, with the least role.</EmptyState>
        }
      />
      <Dialog opened={isCreating} onClose={close} title={<Text fw={600}>Create a token</Text>}>
        <TokenForm
          onCancel={close}
          onCreated={(created) => {
            setSecret(created);
            close();
          }}
        />
      </Dialog>
      <SecretOnce
        secret={secret?.token ?? null}
        title={`Token ${secret?.name ?? ""}`}
        what="token"
        onClose={() => setSecret(null)}
      >
        Store it in the program’s configuration. Anyone who has it acts with the role of the token.
      </SecretOnce>
    </>
  );
}

const COLUMNS: Column<OperatorToken>[] = [
  { key: "name", header: "Name", lead: true, render: (token) => <Text fw={500}>{token.name}</Text> },
  { key: "role", header: "Role", render: (token) => OPERATOR_ROLE_LABELS[token.role] },
  { key: "state", header: "Status", render: (token) => <TokenState token={token} /> },
  { key: "used", header: "Last used", render: (token) => <Time at={token.lastUsedAt} relative /> },
  { key: "created", header: "Created", render: (token) => <Time at={token.createdAt} relative /> },
];

function TokenState({ token }: { token: OperatorToken }) {
  if (token.disabledAt) return <StatusBadge tone="idle" label="Disabled" />;
  const isRotating = token.previousUntil && new Date(token.previousUntil) > new Date();
  return (
    <>
      <StatusBadge tone="good" label="Active" />
      {isRotating && (
        <Text size="xs" c="dimmed">
          old secret expires <Time at={token.previousUntil} relative />
        </Text>
      )}
    </>
  );
}

function actions(onSecret: (secret: Secret) => void): Column<OperatorToken> {
  return {
    key: "actions",
    header: "Actions",
    align: "end",
    actions: true,
    render: (token) => (token.disabledAt ? null : <TokenActions token={token} onSecret={onSecret} />),
  };
}

function TokenActions({ token, onSecret }: { token: OperatorToken; onSecret: (secret: Secret) => void }) {
  const rotate = useRotateToken();
  const disable = useDisableToken();
  return (
    <Group gap="xs" justify="flex-end" wrap="nowrap">
      <ConfirmButton
        aria-label={`Rotate ${token.name}`}
        title={`Rotate “${token.name}”?`}
        description="A new secret replaces the old one, which works for another 24 hours. If it has leaked, disable the token instead."
        confirm="Rotate token"
        onConfirm={() => rotate.mutateAsync({ id: token.id, graceSeconds: GRACE_SECONDS }).then(onSecret)}
      >
        Rotate
      </ConfirmButton>
      <ConfirmButton
        aria-label={`Disable ${token.name}`}
        title={`Disable “${token.name}”?`}
        description="Calls with this token are rejected immediately. This cannot be undone."
        confirm="Disable token"
        onConfirm={() => disable.mutateAsync(token.id)}
      >
        Disable
      </ConfirmButton>
    </Group>
  );
}

interface TokenFormProps {
  onCancel: () => void;
  onCreated: (secret: Secret) => void;
}

function TokenForm({ onCancel, onCreated }: TokenFormProps) {
  const create = useCreateToken();
  const form = useForm<{ name: string; role: OperatorRole }>({
    initialValues: { name: "", role: "viewer" },
    validate: { name: (name) => (name.trim() === "" ? "Enter a name for the token." : null) },
  });
  const submit = form.onSubmit(
    (values) => create.mutate(values, { onSuccess: onCreated }),
    focusFirstError(form),
  );
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <FormErrors error={create.error} form={form} />
        <TextInput
          label="Name"
          description="The program that uses it."
          autoComplete="off"
          maxLength={NAME_CHARS_MAX}
          data-autofocus
          {...form.getInputProps("name")}
        />
        <NativeSelect label="Role" data={OPERATOR_ROLE_CHOICES} {...form.getInputProps("role")} />
        <DialogActions isPending={create.isPending} onCancel={onCancel}>
          Create token
        </DialogActions>
      </Stack>
    </form>
  );
}
