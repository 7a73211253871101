import { CloseButton, TextInput, type TextInputProps } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";

const TYPING_PAUSE_MS = 350;
const CHARS_MAX = 200;

interface SearchFieldProps
  extends Pick<TextInputProps, "placeholder" | "style" | "className" | "autoFocus" | "size"> {
  label: string;
  /** Shows the label, next to other labelled fields. */
  hasVisibleLabel?: boolean;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}

/** A search field that applies after a pause in typing, or immediately on Enter. */
export function SearchField({ label, hasVisibleLabel, value = "", onChange, ...input }: SearchFieldProps) {
  const [text, setText] = useState(value);
  const applied = useRef(value);
  const apply = (next: string) => {
    applied.current = next.trim();
    onChange(applied.current || undefined);
  };
  const applySoon = useDebouncedCallback(apply, TYPING_PAUSE_MS);
  const applyNow = (next: string) => {
    applySoon.cancel();
    apply(next);
  };
  // Keeps text that is being typed, with its spaces. A value from outside replaces it.
  useEffect(() => {
    if (value === applied.current) return;
    applied.current = value;
    applySoon.cancel();
    setText(value);
  }, [value, applySoon]);
  const field = useRef<HTMLInputElement>(null);
  const clear = () => {
    setText("");
    applyNow("");
    // The button disappears.
    field.current?.focus();
  };
  return (
    <TextInput
      {...(hasVisibleLabel ? { label } : { "aria-label": label })}
      maxLength={CHARS_MAX}
      leftSection={<IconSearch size={15} aria-hidden />}
      rightSection={text && <CloseButton size="sm" aria-label="Clear search" onClick={clear} />}
      {...input}
      // A dialog gives the focus to the field that has this.
      data-autofocus={input.autoFocus || undefined}
      ref={field}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value);
        applySoon(event.currentTarget.value);
      }}
      onKeyDown={(event) => {
        if (event.key === "Enter") applyNow(event.currentTarget.value);
      }}
    />
  );
}
