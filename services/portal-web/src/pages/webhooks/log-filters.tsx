import { Button, Collapse, NativeSelect } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconFilter } from "@tabler/icons-react";
import { asFailure } from "../../api/failure";
import type { DeliveryFilter } from "../../api/webhook-log";
import { LocalTimeInput } from "../../components/local-time-input";
import { SearchField } from "../../components/search-field";
import { useIsPhone } from "../../components/use-is-phone";
import { LOGGED } from "../../format/event-labels";
import { kindChoices, MODES } from "../../format/filter-choices";
import { choices } from "../../format/status-label";
import { DELIVERY_STATES } from "./labels";
import classes from "./webhooks.module.css";

interface LogFiltersProps {
  filter: DeliveryFilter;
  count: number;
  onChange: (change: DeliveryFilter) => void;
  onClear: () => void;
  /** The server's errors for the filters. */
  error: unknown;
}

const RESPONSES = [
  { value: "", label: "Any response" },
  { value: "2xx", label: "2xx, received" },
  { value: "3xx", label: "3xx, redirects" },
  { value: "4xx", label: "4xx, rejected" },
  { value: "5xx", label: "5xx, server errors" },
  { value: "none", label: "No response" },
];

/** On a phone, a button opens the filters, so that the log comes first. */
export function LogFilters(props: LogFiltersProps) {
  const isPhone = useIsPhone();
  const [isOpen, { toggle }] = useDisclosure(false);
  return (
    <>
      {isPhone && (
        <Button
          variant="default"
          size="xs"
          mb="sm"
          leftSection={<IconFilter size={14} aria-hidden />}
          aria-expanded={isOpen}
          onClick={toggle}
        >
          {props.count > 0 ? `Filters (${props.count})` : "Filters"}
        </Button>
      )}
      <Collapse expanded={isOpen || !isPhone}>
        <Fields {...props} />
      </Collapse>
    </>
  );
}

function Fields({ filter, count, onChange, onClear, error }: LogFiltersProps) {
  const fieldErrors = error ? asFailure(error).fieldErrors : [];
  const errorOf = (field: string) => fieldErrors.find((fieldError) => fieldError.field === field)?.message;
  return (
    <fieldset className={classes.filters} aria-label="Log filters">
      <NativeSelect
        size="xs"
        label="Status"
        value={filter.status ?? ""}
        onChange={(event) => onChange({ status: event.currentTarget.value })}
        data={[{ value: "", label: "Any status" }, ...choices(DELIVERY_STATES)]}
      />
      <NativeSelect
        size="xs"
        label="Event"
        value={filter.event ?? ""}
        onChange={(event) => onChange({ event: event.currentTarget.value as DeliveryFilter["event"] })}
        data={kindChoices(LOGGED)}
      />
      <NativeSelect
        size="xs"
        label="Mode"
        value={filter.mode ?? ""}
        onChange={(event) => onChange({ mode: event.currentTarget.value as DeliveryFilter["mode"] })}
        data={MODES}
      />
      <ResponseStatus
        value={filter.responseStatus}
        onChange={(responseStatus) => onChange({ responseStatus })}
        error={errorOf("responseStatus")}
      />
      <SearchField
        className={classes.wide}
        size="xs"
        label="Order reference"
        hasVisibleLabel
        placeholder="Exactly as you sent it"
        value={filter.orderReference}
        onChange={(orderReference) => onChange({ orderReference })}
      />
      <LocalTimeInput
        className={classes.wide}
        size="xs"
        label="Since"
        value={filter.since}
        onChange={(since) => onChange({ since })}
        error={errorOf("since")}
      />
      <LocalTimeInput
        className={classes.wide}
        size="xs"
        label="Until"
        value={filter.until}
        onChange={(until) => onChange({ until })}
        error={errorOf("until")}
      />
      <Button className={classes.clear} variant="subtle" size="xs" disabled={count === 0} onClick={onClear}>
        Clear filters
      </Button>
    </fieldset>
  );
}

interface ResponseStatusProps {
  value: string | undefined;
  onChange: (value: string) => void;
  error: string | undefined;
}

/** A class of responses, or a single status from the URL, such as `404`. */
function ResponseStatus({ value = "", onChange, error }: ResponseStatusProps) {
  const isListed = RESPONSES.some((one) => one.value === value);
  return (
    <NativeSelect
      size="xs"
      label="Latest response"
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      error={error}
      data={isListed ? RESPONSES : [...RESPONSES, { value, label: value }]}
    />
  );
}
