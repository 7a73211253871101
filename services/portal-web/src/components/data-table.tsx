import { Skeleton, Table, VisuallyHidden } from "@mantine/core";
import { type ReactNode, useState } from "react";
import classes from "./data-table.module.css";
import { Fact, Facts } from "./facts";
import { useHasDialog } from "./open-dialogs";
import { useFocusHandover } from "./use-focus-handover";
import { useIsPhone } from "./use-is-phone";

export interface Column<Row> {
  key: string;
  header: string;
  render: (row: Row) => ReactNode;
  align?: "end";
  /** The heading of a row's card on a phone. At most one column. */
  lead?: boolean;
  /** Share of the table's width. If all columns but one have it, loading rows shift nothing. */
  width?: string;
  /** A column of buttons: without a visible header, and last in a card. */
  actions?: boolean;
}

export interface DataTableProps<Row> {
  /** Accessible name of the table. */
  label: string;
  columns: Column<Row>[];
  rows: Row[];
  rowKey: (row: Row) => string;
  /** The content of a row's card on a phone; all columns by default. */
  card?: (row: Row) => ReactNode;
  /** Shows placeholder rows. */
  isLoading?: boolean;
  /** CSS class of a row, such as a highlight. */
  rowClass?: (row: Row) => string | undefined;
  /** Shown instead of an empty table. */
  empty: ReactNode;
}

const SKELETON_ROWS = ["one", "two", "three"];

/** A table; on a phone, a list of cards. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const hasCards = useHasCards();
  if (!props.isLoading && props.rows.length === 0) return props.empty;
  return hasCards ? <Cards {...props} /> : <Rows {...props} />;
}

/**
 * Follows the width of the window, but not while a dialog is open: a row may have opened it, and the change replaces all rows,
 * with what was typed in their dialogs.
 */
function useHasCards(): boolean {
  const isPhone = useIsPhone();
  const hasDialog = useHasDialog();
  const [hasCards, setHasCards] = useState(isPhone);
  if (hasCards !== isPhone && !hasDialog) setHasCards(isPhone);
  return hasCards;
}

function Rows<Row>({ label, columns, rows, rowKey, rowClass, isLoading }: DataTableProps<Row>) {
  const layout = columns.some((column) => column.width) ? "fixed" : "auto";
  return (
    <div className={classes.scroll}>
      <Table className={classes.table} layout={layout} aria-label={label} aria-busy={isLoading}>
        <Table.Thead>
          <Table.Tr>
            {columns.map((column) => (
              <Table.Th key={column.key} scope="col" w={column.width} className={column.align && classes.end}>
                {column.actions ? <VisuallyHidden>{column.header}</VisuallyHidden> : column.header}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {isLoading
            ? SKELETON_ROWS.map((name) => (
                <Table.Tr key={name}>
                  {columns.map((column) => (
                    <Table.Td key={column.key}>
                      <Skeleton height={20} />
                    </Table.Td>
                  ))}
                </Table.Tr>
              ))
            : rows.map((row) => (
                <TableRow key={rowKey(row)} className={rowClass?.(row)} columns={columns} row={row} />
              ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}

interface RowProps<Row> {
  columns: Column<Row>[];
  row: Row;
  className: string | undefined;
}

function TableRow<Row>({ columns, row, className }: RowProps<Row>) {
  return (
    <Table.Tr ref={useFocusHandover<HTMLTableRowElement>()} className={className}>
      {columns.map((column) => (
        <Table.Td key={column.key} className={column.align && classes.end}>
          {column.render(row)}
        </Table.Td>
      ))}
    </Table.Tr>
  );
}

function Cards<Row>({ label, columns, rows, rowKey, rowClass, card, isLoading }: DataTableProps<Row>) {
  if (isLoading) {
    return (
      <div aria-busy="true">
        {SKELETON_ROWS.map((name) => (
          <div key={name} className={card ? classes.dense : classes.card}>
            <Skeleton height={card ? 54 : 88} />
          </div>
        ))}
      </div>
    );
  }
  return (
    <ul className={classes.cards} aria-label={label}>
      {rows.map((row) => (
        <Card key={rowKey(row)} className={rowClass?.(row)} columns={columns} row={row} card={card} />
      ))}
    </ul>
  );
}

function Card<Row>({ columns, row, className, card }: RowProps<Row> & Pick<DataTableProps<Row>, "card">) {
  const ref = useFocusHandover<HTMLLIElement>();
  const names = (own: string | undefined) => [own, className].filter(Boolean).join(" ");
  if (card) {
    return (
      <li ref={ref} className={names(classes.dense)}>
        {card(row)}
      </li>
    );
  }
  const lead = columns.find((column) => column.lead);
  const actions = columns.filter((column) => column.actions);
  const facts = columns.filter((column) => !column.lead && !column.actions);
  return (
    <li ref={ref} className={names(classes.card)}>
      {lead && <div className={classes.lead}>{lead.render(row)}</div>}
      <Facts compact>
        {facts.map((column) => (
          <Fact key={column.key} name={column.header}>
            {column.render(row)}
          </Fact>
        ))}
      </Facts>
      {actions.map((column) => (
        <div key={column.key} className={classes.actions}>
          {column.render(row)}
        </div>
      ))}
    </li>
  );
}
