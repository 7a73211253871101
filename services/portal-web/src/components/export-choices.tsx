import { Button, Menu, Popover, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useState } from "react";
import { periodError } from "../format/day";
import { ExportButton } from "./export-menu";
import { MonthField } from "./month-field";
import { type Period, PeriodFields } from "./period-fields";

export interface ExportMenuProps {
  choices: { label: string; choose: (period: Period) => void }[];
  isPending: boolean;
  /** Asks for days, and says of what: “Orders that were placed”. */
  days?: string;
}

/** Starts open, because the first click loads it. */
export default function ExportChoices(props: ExportMenuProps) {
  return props.days ? <OfDays {...props} /> : <Formats {...props} />;
}

function Formats({ choices, isPending }: ExportMenuProps) {
  return (
    <Menu position="bottom-end" defaultOpened>
      <Menu.Target>
        <ExportButton loading={isPending} />
      </Menu.Target>
      <Menu.Dropdown>
        {choices.map(({ label, choose }) => (
          <Menu.Item key={label} onClick={() => choose({})}>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

/** A menu has no fields. */
function OfDays({ choices, isPending, days }: ExportMenuProps) {
  const [isOpen, { close, toggle }] = useDisclosure(true);
  const [period, setPeriod] = useState<Period>({});
  const change = (changed: Period) => setPeriod({ ...period, ...changed });
  return (
    <Popover position="bottom-end" opened={isOpen} onDismiss={close} trapFocus>
      <Popover.Target>
        <ExportButton loading={isPending} onClick={toggle} />
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap="xs">
          <Text size="xs" c="dimmed">
            {days}, or all:
          </Text>
          <MonthField period={period} onChange={change} />
          <PeriodFields period={period} onChange={change} />
          {choices.map(({ label, choose }) => (
            <Button
              key={label}
              size="xs"
              variant="default"
              disabled={periodError(period) !== null}
              onClick={() => {
                close();
                choose(period);
              }}
            >
              {label}
            </Button>
          ))}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
