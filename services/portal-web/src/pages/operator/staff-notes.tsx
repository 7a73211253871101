import { Stack, Text, Textarea } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useAddStaffNote, useStaffNotes } from "../../api/operator-businesses";
import { useMay } from "../../api/operator-session";
import { CallButton } from "../../components/call-button";
import type { Column } from "../../components/data-table";
import { EmptyState } from "../../components/empty-state";
import { FormErrors, focusFirstError } from "../../components/form-errors";
import { ListSection } from "../../components/list-section";
import { Time } from "../../components/time";

const NOTE_CHARS_MAX = 2_000;

type Note = ReturnType<typeof useStaffNotes>["rows"][number];

const COLUMNS: Column<Note>[] = [
  {
    key: "text",
    header: "Note",
    lead: true,
    render: ({ text }) => (
      <Text size="sm" style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
        {text}
      </Text>
    ),
  },
  { key: "author", header: "By", width: "24%", render: ({ author }) => author },
  {
    key: "at",
    header: "Written",
    width: "16%",
    align: "end",
    render: ({ createdAt }) => <Time at={createdAt} relative />,
  },
];

/** What the staff notes about a business. Notes stay as they were written. */
export function StaffNotes({ businessId }: { businessId: string }) {
  const mayWrite = useMay("change_businesses");
  return (
    <ListSection
      title="Notes"
      description="For your staff only. A note cannot be changed or removed."
      label="Notes of the staff"
      list={useStaffNotes(businessId)}
      failed="The notes could not be loaded"
      columns={COLUMNS}
      rowKey={({ id }) => id}
      empty={<EmptyState title="No notes yet">What your staff should know about this business.</EmptyState>}
    >
      {mayWrite && <AddNote businessId={businessId} />}
    </ListSection>
  );
}

function AddNote({ businessId }: { businessId: string }) {
  const add = useAddStaffNote(businessId);
  const form = useForm({
    initialValues: { text: "" },
    validate: { text: (text) => (text.trim() === "" ? "Enter the note." : null) },
  });
  const submit = form.onSubmit(
    ({ text }) => add.mutate(text.trim(), { onSuccess: () => form.reset() }),
    focusFirstError(form),
  );
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="xs" px="md" pb="md" maw={640}>
        <FormErrors error={add.error} form={form} />
        <Textarea
          label="New note"
          maxLength={NOTE_CHARS_MAX}
          autosize
          minRows={2}
          {...form.getInputProps("text")}
        />
        <CallButton type="submit" size="xs" loading={add.isPending} style={{ alignSelf: "flex-start" }}>
          Add note
        </CallButton>
      </Stack>
    </form>
  );
}
