import type { ReactNode } from "react";
import type { FieldError } from "../api/types";
import { formatDay } from "../format/day";

/** The form's field of an error: an entry of a list belongs to the field of the list. */
export function fieldOf(error: FieldError): string {
  return error.field.replace(/[[.].*$/, "");
}

/** Labels of the fields of a form, as users see them. */
export type Labels = Record<string, string>;

/** The server's errors of one field in the words of the page, one per line. */
export function fieldMessage(errors: FieldError[], labels: Labels): ReactNode {
  const [first, ...others] = errors.map((error) => readableMessage(error, labels));
  if (others.length === 0) return first;
  return [first, ...others].map((message) => (
    <span key={message} style={{ display: "block" }}>
      {message}
    </span>
  ));
}

/** The server names fields as in the API. Its message begins with the name, and may contain names of other fields. */
export function readableMessage(error: FieldError, labels: Labels): string {
  const { field, message } = error;
  const startsWithField = field !== "" && message.startsWith(`${field} `);
  const rest = forReaders(startsWithField ? message.slice(field.length) : message);
  const start = startsWithField ? subject(error, labels) : "";
  return start + namesAsLabels(rest, labels);
}

/** Days as the pages show them. Readers enter what programs send. */
function forReaders(text: string): string {
  const days = text.replace(/\b\d{4}-\d{2}-\d{2}\b/g, (day) =>
    Number.isNaN(Date.parse(day)) ? day : formatDay(day),
  );
  return days.replace(/, send (\+\d)/, ", enter $1");
}

/** `Line 2` for an entry of a list, and the label for a field. */
function subject(error: FieldError, labels: Labels): string {
  const index = /\[(\d+)\]/.exec(error.field)?.[1];
  return index === undefined ? (labels[error.field] ?? words(error.field)) : `Line ${Number(index) + 1}`;
}

/** Only names that are no English words: with an upper-case letter inside. */
function namesAsLabels(text: string, labels: Labels): string {
  return text.replace(/\b[a-z]+[A-Z][A-Za-z]*\b/g, (name) => (labels[name] ? `“${labels[name]}”` : name));
}

/** `graceSeconds` as `Grace seconds`. */
function words(name: string): string {
  const text = name.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The visible label of an input, or its accessible name. */
export function labelOf(input: HTMLElement | null): string | undefined {
  const { labels } = (input ?? {}) as Partial<HTMLInputElement>;
  const text = labels?.[0]?.textContent ?? input?.getAttribute("aria-label");
  return text?.replace("*", "").trim() || undefined;
}
