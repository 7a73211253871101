import { Button, type ButtonProps } from "@mantine/core";
import { type ComponentPropsWithoutRef, type MouseEvent, useLayoutEffect } from "react";
import { successorOf, useFocusHandover } from "./use-focus-handover";

type CallButtonProps = ButtonProps & Omit<ComponentPropsWithoutRef<"button">, keyof ButtonProps>;

/** A button for a call. It keeps the focus while it waits, and hands it over when it is disabled or disappears. */
export function CallButton({ onClick, ...button }: CallButtonProps) {
  const { loading, disabled } = button;
  const ref = useFocusHandover<HTMLButtonElement>();
  useLayoutEffect(() => {
    const { current } = ref;
    if (disabled && current === document.activeElement)
      successorOf(current)()?.focus({ preventScroll: true });
  }, [ref, disabled]);
  const act = (event: MouseEvent<HTMLButtonElement>) => {
    if (loading) event.preventDefault();
    else onClick?.(event);
  };
  return (
    <Button
      {...button}
      ref={ref}
      onClick={act}
      renderRoot={(root) => <button {...root} disabled={disabled} aria-disabled={loading || undefined} />}
    />
  );
}
