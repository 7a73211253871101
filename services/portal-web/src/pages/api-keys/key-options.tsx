import { Button, Checkbox, Collapse, Stack, Textarea } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { useDisclosure } from "@mantine/hooks";
import { IconAdjustments } from "@tabler/icons-react";
import type { KeyScope, Mode, NewApiKey } from "../../api/types";
import { LocalTimeInput } from "../../components/local-time-input";

export interface NewKeyValues extends Record<string, unknown> {
  mode: Mode;
  name: string;
  expiresAt: string | undefined;
  scopes: KeyScope[];
  /** One per line. */
  ipAllowList: string;
}

export type NewKeyForm = UseFormReturnType<NewKeyValues>;

export const SCOPES: { scope: KeyScope; label: string; description: string }[] = [
  { scope: "orders:write", label: "Write orders", description: "Create, cancel and simulate orders." },
  { scope: "orders:read", label: "Read orders", description: "Read orders and their timelines." },
  { scope: "events:read", label: "Read events", description: "Read the events feed." },
];
const ALL_SCOPES = SCOPES.map(({ scope }) => scope);

export function newKeyValues(mode: Mode): NewKeyValues {
  return { mode, name: "", expiresAt: undefined, scopes: ALL_SCOPES, ipAllowList: "" };
}

/** The body of a create request. Without options the key may do everything, from everywhere, for ever. */
export function asNewKey({ mode, name, expiresAt, scopes, ipAllowList }: NewKeyValues): NewApiKey {
  const networks = ipAllowList.split(/[\s,]+/).filter((network) => network !== "");
  return {
    mode,
    name,
    ...(expiresAt ? { expiresAt } : {}),
    ...(scopes.length < ALL_SCOPES.length ? { scopes } : {}),
    ...(networks.length > 0 ? { ipAllowList: networks } : {}),
  };
}

const OPTIONS = ["expiresAt", "scopes", "ipAllowList"];

/** What a key may be restricted to, behind a button: most keys need none of it. */
export function KeyOptions({ form }: { form: NewKeyForm }) {
  const [isOpen, { toggle }] = useDisclosure(false);
  // An error must not stay hidden.
  const isShown = isOpen || OPTIONS.some((name) => form.errors[name]);
  return (
    <div>
      <Button
        variant="subtle"
        size="xs"
        leftSection={<IconAdjustments size={14} aria-hidden />}
        aria-expanded={isShown}
        onClick={toggle}
      >
        Options
      </Button>
      <Collapse expanded={isShown}>
        <Stack mt="sm">
          <LocalTimeInput
            label="Expires"
            description="Leave it empty for a key that does not expire."
            {...form.getInputProps("expiresAt")}
            value={form.values.expiresAt}
          />
          <Checkbox.Group label="Allowed calls" {...form.getInputProps("scopes")}>
            <Stack gap="xs" mt="xs">
              {SCOPES.map(({ scope, label, description }) => (
                <Checkbox key={scope} value={scope} label={label} description={description} />
              ))}
            </Stack>
          </Checkbox.Group>
          <Textarea
            label="Allowed addresses"
            description="Networks or IP addresses of your backend, one per line. Leave it empty to allow all."
            placeholder="203.0.113.0/24"
            autosize
            minRows={2}
            maxRows={6}
            {...form.getInputProps("ipAllowList")}
          />
        </Stack>
      </Collapse>
    </div>
  );
}
