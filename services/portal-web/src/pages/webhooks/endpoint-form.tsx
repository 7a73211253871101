import { Anchor, Checkbox, Group, NumberInput, Stack, Text, TextInput } from "@mantine/core";
import { type UseFormReturnType, useForm } from "@mantine/form";
import { useConfig } from "../../api/config";
import type { Mode } from "../../api/types";
import type { Endpoint } from "../../api/webhooks";
import { InlineCode } from "../../components/code-block";
import { DEFAULT_EVENTS, type EventKind, subscribable } from "../../format/event-labels";
import classes from "./webhooks.module.css";

export interface EndpointValues extends Record<string, unknown> {
  url: string;
  events: EventKind[];
  modes: Mode[];
  /** Empty: only the operator's limit applies. */
  maxPerSecond: number | "";
}

const URL_CHARS_MAX = 2_048;
const PER_SECOND_MAX = 1_000;

export type EndpointForm = UseFormReturnType<EndpointValues>;

export function useEndpointForm(endpoint?: Endpoint): EndpointForm {
  return useForm<EndpointValues>({
    initialValues: {
      url: endpoint?.url ?? "",
      events: endpoint?.events ?? DEFAULT_EVENTS,
      modes: endpoint?.modes ?? ["live", "test"],
      maxPerSecond: endpoint?.maxPerSecond ?? "",
    },
    validate: validateEndpoint,
  }) as EndpointForm;
}

function validateEndpoint(values: EndpointValues) {
  return {
    url: urlError(values.url),
    events: values.events.length === 0 ? "Choose at least one event." : null,
    modes: values.modes.length === 0 ? "Choose Live, Test or both." : null,
  };
}

function urlError(url: string): string | null {
  if (url.trim() === "") return "Enter the URL of your endpoint.";
  return /^https?:\/\/\S+$/i.test(url.trim()) ? null : "Enter a full URL, starting with https://.";
}

/** The fields of a new or existing endpoint. */
export function EndpointFields({ form }: { form: EndpointForm }) {
  return (
    <Stack gap="lg">
      <TextInput
        label="URL"
        description="A public URL of your backend that accepts POST requests."
        placeholder="https://shop.example/api/webhook"
        type="url"
        inputMode="url"
        autoComplete="off"
        maxLength={URL_CHARS_MAX}
        {...form.getInputProps("url")}
      />
      <Checkbox.Group
        label="Modes"
        description="In production, process live events only: a test order and a live order can have the same reference."
        {...form.getInputProps("modes")}
      >
        <Group mt="xs">
          <Checkbox value="live" label="Live" />
          <Checkbox value="test" label="Test" />
        </Group>
      </Checkbox.Group>
      <Events form={form} />
      <NumberInput
        label="Maximum webhooks per second"
        description="Optional. Leave it empty if your endpoint needs no limit."
        min={1}
        max={PER_SECOND_MAX}
        allowDecimal={false}
        allowNegative={false}
        maw="20rem"
        {...form.getInputProps("maxPerSecond")}
      />
    </Stack>
  );
}

function Events({ form }: { form: EndpointForm }) {
  const offered = subscribable(useConfig().attemptEvents, form.values.events);
  const choose = (events: EventKind[]) => form.setFieldValue("events", events);
  return (
    <Checkbox.Group
      label="Events"
      description={
        <>
          {form.values.events.length} of {offered.length} selected.{" "}
          <Anchor component="button" type="button" size="xs" onClick={() => choose(DEFAULT_EVENTS)}>
            Default events
          </Anchor>
          {" · "}
          <Anchor
            component="button"
            type="button"
            size="xs"
            onClick={() => choose(offered.map((one) => one.kind))}
          >
            All events
          </Anchor>
        </>
      }
      {...form.getInputProps("events")}
    >
      <div className={classes.events} style={{ marginTop: 10 }}>
        {offered.map(({ kind, label }) => (
          <Checkbox
            key={kind}
            value={kind}
            label={
              <Group component="span" gap={8}>
                <Text component="span">{label}</Text>
                <InlineCode>{kind}</InlineCode>
              </Group>
            }
          />
        ))}
      </div>
    </Checkbox.Group>
  );
}

/** The body of a create request. */
export function asNewEndpoint(values: EndpointValues) {
  return {
    url: values.url.trim(),
    events: values.events,
    modes: values.modes,
    ...(values.maxPerSecond === "" ? {} : { maxPerSecond: values.maxPerSecond }),
  };
}

/** The body of an update request: 0 removes the limit. */
export function asEndpointChange(values: EndpointValues) {
  return { ...asNewEndpoint(values), maxPerSecond: values.maxPerSecond === "" ? 0 : values.maxPerSecond };
}
