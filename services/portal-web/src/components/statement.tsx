import { Button, Group, NativeSelect, Text, TextInput } from "@mantine/core";
import { IconDownload, IconReceipt2 } from "@tabler/icons-react";
import type { PagedList } from "../api/list";
import {
  hasTotals,
  type StatementFormat,
  type StatementTotals,
  TOTALS_DAYS_MAX,
  type WalletEntry,
} from "../api/wallet";
import { periodError } from "../format/day";
import { ENTRY_KINDS } from "../format/entry-labels";
import type { Column, DataTableProps } from "./data-table";
import { EmptyState, NoMatches } from "./empty-state";
import { ListSection } from "./list-section";
import { Money } from "./money";
import { MonthField } from "./month-field";
import { SearchField } from "./search-field";
import classes from "./statement.module.css";
import type { EntryFields, useEntryFilter } from "./use-entry-filter";

interface StatementProps {
  entryFilter: ReturnType<typeof useEntryFilter>;
  list: PagedList<WalletEntry>;
  /** Of the period, from the server. Without them, the entries are summed up once all are loaded. */
  totals: Totals | undefined;
  fileUrl: (format: StatementFormat) => string;
  columns: Column<WalletEntry>[];
  card?: DataTableProps<WalletEntry>["card"];
  /** Explains a kind that has no entries. */
  hints?: Record<string, string>;
}

type Totals = Omit<StatementTotals, "since" | "until">;

const FILES: { format: StatementFormat; label: string }[] = [
  { format: "csv", label: "Download CSV" },
  { format: "xlsx", label: "Download Excel" },
];

/** Every movement of money of a wallet, newest first. */
export function Statement({ entryFilter, list, totals, fileUrl, columns, card, hints }: StatementProps) {
  const { fields, filter, change, isFiltered } = entryFilter;
  const clear = () => change({ kind: undefined, from: undefined, to: undefined, orderReference: undefined });
  return (
    <ListSection
      title="Statement"
      actions={
        <Group gap="xs">
          {FILES.map(({ format, label }) => (
            <Button
              key={format}
              component="a"
              href={fileUrl(format)}
              download
              variant="default"
              size="xs"
              leftSection={<IconDownload size={14} aria-hidden />}
            >
              {label}
            </Button>
          ))}
        </Group>
      }
      list={list}
      failed="The statement could not be loaded"
      columns={columns}
      card={card}
      rowKey={(entry) => entry.id}
      showsCount
      empty={<NoEntries hint={hints?.[fields.kind ?? ""]} isFiltered={isFiltered} onClear={clear} />}
    >
      <Filters fields={fields} onChange={change} />
      <PeriodTotals
        fields={fields}
        totals={totals ?? totalsOf(list)}
        isTooLong={list.hasNextPage && !hasTotals(filter)}
      />
    </ListSection>
  );
}

interface PeriodTotalsProps {
  fields: EntryFields;
  totals: Totals | null;
  /** Neither the server nor the loaded entries have the sums. */
  isTooLong: boolean;
}

/** The balances and sums of a period, or the sum of a kind. */
function PeriodTotals({ fields, totals, isTooLong }: PeriodTotalsProps) {
  const { kind, from, to, orderReference } = fields;
  if (!(from || to) || orderReference || !(totals || isTooLong)) return null;
  if (!totals) {
    return (
      <Text c="dimmed" px="md" pb="xs">
        For balances and sums, choose a first day and at most {TOTALS_DAYS_MAX} days.
      </Text>
    );
  }
  if (kind) return <KindTotal {...totals} />;
  return (
    <Text c="dimmed" px="md" pb="xs">
      Opening balance <Money paise={totals.openingPaise} />, in <Money paise={totals.inPaise} moves />, out{" "}
      <Money paise={totals.outPaise} moves />, closing balance <Money paise={totals.closingPaise} />.
    </Text>
  );
}

/** Money of one kind moves in one direction. A debt moves none. */
function KindTotal({ inPaise, outPaise, owedPaise, entries }: Totals) {
  return (
    <Text c="dimmed" px="md" pb="xs">
      {entries === 0 && owedPaise > 0 ? (
        <>
          Sum: <Money paise={owedPaise} /> owed.
        </>
      ) : (
        <>
          Sum: <Money paise={inPaise + outPaise} moves /> in {entries} {entries === 1 ? "entry" : "entries"}.
        </>
      )}
    </Text>
  );
}

/** `null` until all entries are loaded. */
function totalsOf({ rows, hasNextPage }: PagedList<WalletEntry>): Totals | null {
  const [newest, oldest] = [rows[0], rows.at(-1)];
  if (hasNextPage || !newest || !oldest) return null;
  const sum = (isIn: boolean) =>
    rows.reduce((total, { amountPaise }) => total + (amountPaise > 0 === isIn ? amountPaise : 0), 0);
  return {
    openingPaise: oldest.balanceAfterPaise - oldest.amountPaise,
    inPaise: sum(true),
    outPaise: sum(false),
    owedPaise: rows.reduce((total, { owedPaise }) => total + owedPaise, 0),
    entries: rows.filter(({ amountPaise }) => amountPaise !== 0).length,
    closingPaise: newest.balanceAfterPaise,
  };
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
      <MonthField period={fields} onChange={onChange} className={classes.kind} />
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
  hint?: string;
  isFiltered: boolean;
  onClear: () => void;
}

function NoEntries({ hint, isFiltered, onClear }: NoEntriesProps) {
  if (isFiltered) {
    return <NoMatches onClear={onClear}>{hint ?? "Try other days, or a full order reference."}</NoMatches>;
  }
  return (
    <EmptyState icon={<IconReceipt2 size={28} />} title="No entries yet">
      Top-ups, delivery fees and refunds appear here, with the balance after each.
    </EmptyState>
  );
}
