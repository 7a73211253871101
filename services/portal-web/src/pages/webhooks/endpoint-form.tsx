import { Anchor, Checkbox, Group, NumberInput, Stack, Text, TextInput } from "@mantine/core";
import { type UseFormReturnType, useForm } from "@mantine/form";
import type { Mode } from "../../api/types";
import type { Endpoint } from "../../api/webhooks";
import { InlineCode } from "../../components/code-block";
import { DEFAULT_EVENTS, type EventKind, SUBSCRIBABLE } from "../../format/event-words";
import classes from "./webhooks.module.css";

export interface EndpointValues extends Record<string, unknown> {
  url: string;
  events: EventKind[];
  modes: Mode[];
  /** Empty for the operator's limit. */
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
    url: urlFault(values.url),
    events: values.events.length === 0 ? "Choose at least one event." : null,
    modes: values.modes.length === 0 ? "Choose Live, Test or both." : null,
  };
}

function urlFault(url: string): string | null {
  if (url.trim() === "") return "Enter the URL that is to be called.";
  return /^https?:\/\/\S+$/i.test(url.trim()) ? null : "Enter a whole URL, with https:// in front.";
}

/** What an endpoint is asked for, new or not. */
export function EndpointFields({ form }: { form: EndpointForm }) {
  return (
    <Stack gap="lg">
      <TextInput
        label="URL"
        description="A public address of your backend that takes POST."
        placeholder="https://shop.example/api/webhook"
        type="url"
        inputMode="url"
        autoComplete="off"
        maxLength={URL_CHARS_MAX}
        {...form.getInputProps("url")}
      />
      <Checkbox.Group
        label="Modes"
        description="In production, let your code act on live events only: test and live references may coincide."
        {...form.getInputProps("modes")}
      >
        <Group mt="xs">
          <Checkbox value="live" label="Live" />
          <Checkbox value="test" label="Test" />
        </Group>
      </Checkbox.Group>
      <Events form={form} />
      <NumberInput
        label="Most webhooks per second"
        description="Optional. Leave it empty if your endpoint can take what comes."
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
  const choose = (events: EventKind[]) => form.setFieldValue("events", events);
  return (
    <Checkbox.Group
      label="Events"
      description={
        <>
          {form.values.events.length} of {SUBSCRIBABLE.length} chosen.{" "}
          <Anchor component="button" type="button" size="xs" onClick={() => choose(DEFAULT_EVENTS)}>
            The ten default events
          </Anchor>
          {" · "}
          <Anchor
            component="button"
            type="button"
            size="xs"
            onClick={() => choose(SUBSCRIBABLE.map((one) => one.kind))}
          >
            All events
          </Anchor>
        </>
      }
      {...form.getInputProps("events")}
    >
      <div className={classes.events} style={{ marginTop: 10 }}>
        {SUBSCRIBABLE.map(({ kind, label }) => (
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

/** As the server wants it when an endpoint is made. */
export function asNewEndpoint(values: EndpointValues) {
  return {
    url: values.url.trim(),
    events: values.events,
    modes: values.modes,
    ...(values.maxPerSecond === "" ? {} : { maxPerSecond: values.maxPerSecond }),
  };
}

/** As the server wants it when one is changed: 0 takes the limit away. */
export function asEndpointChange(values: EndpointValues) {
  return { ...asNewEndpoint(values), maxPerSecond: values.maxPerSecond === "" ? 0 : values.maxPerSecond };
}
