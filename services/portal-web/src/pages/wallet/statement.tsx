import { Button, Group, NativeSelect, TextInput } from "@mantine/core";
import { IconDownload, IconReceipt2 } from "@tabler/icons-react";
import { entriesCsvUrl, useEntries } from "../../api/wallet";
import { EmptyState, NoMatches } from "../../components/empty-state";
import { entryColumns } from "../../components/entry-columns";
import { ListSection } from "../../components/list-section";
import { SearchField } from "../../components/search-field";
import { periodError } from "../../format/day";
import { ENTRY_HINTS, ENTRY_KINDS } from "../../format/entry-labels";
import { type EntryFields, useEntryFilter } from "./use-entry-filter";
import classes from "./wallet.module.css";

const COLUMNS = entryColumns({ linksOrders: true });

/** Every movement of money, newest first. */
export function Statement() {
  const { fields, filter, change, isFiltered } = useEntryFilter();
  const clear = () => change({ kind: undefined, from: undefined, to: undefined, orderReference: undefined });
  return (
    <ListSection
      title="Statement"
      actions={
        <Button
          component="a"
          href={entriesCsvUrl(filter)}
          download
          variant="default"
          size="xs"
          leftSection={<IconDownload size={14} aria-hidden />}
        >
          Download CSV
        </Button>
      }
      list={useEntries(filter)}
      failed="The statement could not be loaded"
      columns={COLUMNS}
      rowKey={(entry) => entry.id}
      showsCount
      empty={<NoEntries kind={fields.kind} isFiltered={isFiltered} onClear={clear} />}
    >
      <Filters fields={fields} onChange={change} />
    </ListSection>
  );
}

function Filters({ fields, onChange }: { fields: EntryFields; onChange: (change: EntryFields) => void }) {
  return (
    <Group gap="xs" className={classes.filters} align="flex-start">
      <SearchField
        label="Order reference"
        placeholder="Order reference"
        value={fields.orderReference}
        onChange={(orderReference) => onChange({ orderReference })}
        style={{ flex: "1 1 12rem" }}
      />
      <NativeSelect
        aria-label="Kind"
        className={classes.kind}
        value={fields.kind ?? ""}
        onChange={(event) => onChange({ kind: event.currentTarget.value || undefined })}
        data={[
          { value: "", label: "All kinds" },
          ...Object.entries(ENTRY_KINDS).map(([value, label]) => ({ value, label })),
        ]}
      />
      <TextInput
        type="date"
        aria-label="From day"
        leftSection="From"
        leftSectionWidth={52}
        className={classes.date}
        value={fields.from ?? ""}
        error={periodError(fields)}
        onChange={(event) => onChange({ from: event.currentTarget.value || undefined })}
      />
      <TextInput
        type="date"
        aria-label="To day"
        leftSection="To"
        leftSectionWidth={34}
        className={classes.date}
        value={fields.to ?? ""}
        onChange={(event) => onChange({ to: event.currentTarget.value || undefined })}
      />
    </Group>
  );
}

interface NoEntriesProps {
  kind?: string;
  isFiltered: boolean;
  onClear: () => void;
}

function NoEntries({ kind, isFiltered, onClear }: NoEntriesProps) {
  if (isFiltered) {
    return (
      <NoMatches onClear={onClear}>
        {kind ? ENTRY_HINTS[kind] : "Try other days, or a full order reference."}
      </NoMatches>
    );
  }
  return (
    <EmptyState icon={<IconReceipt2 size={28} />} title="No entries yet">
      Top-ups, delivery fees and refunds appear here, with the balance after each.
    </EmptyState>
  );
}
