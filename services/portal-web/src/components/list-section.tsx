import { Paper } from "@mantine/core";
import type { ReactNode } from "react";
import type { PagedList } from "../api/list";
import { DataTable, type DataTableProps } from "./data-table";
import { ErrorState } from "./error-state";
import { LoadMore } from "./load-more";
import { Section, type SectionProps } from "./section";

interface ListProps<Row> extends Omit<DataTableProps<Row>, "label" | "rows" | "isLoading"> {
  list: PagedList<Row>;
  /** Title of the error: “The keys could not be loaded”. */
  failed?: string;
  /** Shows the number of rows, for long lists. */
  showsCount?: boolean;
}

interface ListSectionProps<Row> extends ListProps<Row>, Omit<SectionProps, "flush" | "children"> {
  /** Accessible name of the table; the title by default. */
  label?: string;
  /** Filters above the rows. */
  children?: ReactNode;
}

/** A list as a section of a page, with a heading. */
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
  /** Accessible name of the table. */
  label: string;
  /** Content above the rows; hidden with them on an error. */
  children?: ReactNode;
}

/** A list that is the whole page: in a frame, without a heading. */
export function ListFrame<Row>({ children, failed, ...props }: ListFrameProps<Row>) {
  if (isMissing(props.list)) return <Failed list={props.list} failed={failed} />;
  return (
    <Paper style={{ overflow: "clip" }}>
      {children}
      <Rows {...props} />
    </Paper>
  );
}

/** Loaded rows stay on the page when a later fetch fails. */
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
