import { Paper } from "@mantine/core";
import type { ReactNode } from "react";
import type { PagedList } from "../api/list";
import { DataTable, type DataTableProps } from "./data-table";
import { ErrorState } from "./error-state";
import { LoadMore } from "./load-more";
import { Section, type SectionProps } from "./section";

interface ListProps<Row> extends Omit<DataTableProps<Row>, "label" | "rows" | "isLoading"> {
  list: PagedList<Row>;
  /** What could not be shown: “The keys cannot be shown”. */
  failed?: string;
  /** Says how many are shown, for lists that grow long. */
  showsCount?: boolean;
}

interface ListSectionProps<Row> extends ListProps<Row>, Omit<SectionProps, "flush" | "children"> {
  /** The table's own name, where the title says too little. */
  label?: string;
  /** Above the rows: filters. */
  children?: ReactNode;
}

/** A list as a part of a page, under a heading of its own. */
export function ListSection<Row>(props: ListSectionProps<Row>) {
  const { title, description, actions, id, children, label = title, list, failed, ...rest } = props;
  return (
    <Section title={title} description={description} actions={actions} id={id} flush>
      {children}
      {isMissing(list) ? (
        <div style={{ padding: "0 16px 16px" }}>
          <Failed list={list} failed={failed} />
        </div>
      ) : (
        <Rows {...rest} label={label} list={list} />
      )}
    </Section>
  );
}

interface ListFrameProps<Row> extends ListProps<Row> {
  /** What the table lists, for people who hear it. */
  label: string;
  /** Above the rows, and only with them. */
  children?: ReactNode;
}

/** A list that is the page itself: in a frame, without a heading. */
export function ListFrame<Row>({ children, failed, ...props }: ListFrameProps<Row>) {
  if (isMissing(props.list)) return <Failed list={props.list} failed={failed} />;
  return (
    <Paper style={{ overflow: "clip" }}>
      {children}
      <Rows {...props} />
    </Paper>
  );
}

/** What is shown already stays, whatever becomes of the next reading. */
function isMissing(list: PagedList<unknown>): boolean {
  return Boolean(list.error) && list.rows.length === 0;
}

function Failed({ list, failed }: Pick<ListProps<unknown>, "failed"> & { list: PagedList<unknown> }) {
  return <ErrorState error={list.error} title={failed} onRetry={() => list.refetch()} />;
}

function Rows<Row>({ list, showsCount, ...table }: Omit<ListProps<Row>, "failed"> & { label: string }) {
  return (
    <>
      <DataTable {...table} rows={list.rows} isLoading={list.isPending} />
      <LoadMore list={list} showsCount={showsCount} />
    </>
  );
}
