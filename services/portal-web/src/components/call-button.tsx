import { Button, type ButtonProps } from "@mantine/core";
import type { ComponentPropsWithoutRef, MouseEvent } from "react";
import { useFocusHandover } from "./use-focus-handover";

type CallButtonProps = ButtonProps & Omit<ComponentPropsWithoutRef<"button">, keyof ButtonProps>;

/** A button for a call. It keeps the focus while it waits, unlike a disabled one, and hands it over when it disappears. */
export function CallButton({ onClick, ...button }: CallButtonProps) {
  const { loading, disabled } = button;
  const act = (event: MouseEvent<HTMLButtonElement>) => {
    if (loading) event.preventDefault();
    else onClick?.(event);
  };
  return (
    <Button
      {...button}
      ref={useFocusHandover<HTMLButtonElement>()}
      onClick={act}
      renderRoot={(root) => <button {...root} disabled={disabled} aria-disabled={loading || undefined} />}
    />
  );
}
