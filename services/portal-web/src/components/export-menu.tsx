import { Button, type ButtonProps } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { type ComponentPropsWithRef, lazy, Suspense, useState } from "react";
import type { ExportMenuProps } from "./export-choices";

const loadChoices = () => import("./export-choices");
const ExportChoices = lazy(loadChoices);

/** A button that asks for the format of a file. The code of the menu is loaded on hover, focus or click. */
export function ExportMenu(props: ExportMenuProps) {
  const [isWanted, setIsWanted] = useState(false);
  const closed = (
    <ExportButton
      loading={props.isPending}
      aria-haspopup="menu"
      aria-expanded={false}
      onPointerEnter={loadChoices}
      onFocus={loadChoices}
      onClick={() => setIsWanted(true)}
    />
  );
  if (!isWanted) return closed;
  return (
    <Suspense fallback={closed}>
      <ExportChoices {...props} />
    </Suspense>
  );
}

/** The menu needs its ref. */
export function ExportButton(props: ButtonProps & ComponentPropsWithRef<"button">) {
  return (
    <Button variant="default" size="xs" leftSection={<IconDownload size={14} aria-hidden />} {...props}>
      Export
    </Button>
  );
}
