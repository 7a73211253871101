import { CloseButton, TextInput, type TextInputProps } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";

const TYPING_PAUSE_MS = 350;
const CHARS_MAX = 200;

interface SearchFieldProps
  extends Pick<TextInputProps, "placeholder" | "style" | "className" | "autoFocus" | "size"> {
  label: string;
  /** Shows the label, beside other fields that do. */
  hasVisibleLabel?: boolean;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}

/** A search that is applied when typing has paused, or at once with Enter. */
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
  // What was applied from here is still being typed, with its spaces; what comes from elsewhere takes its place.
  useEffect(() => {
    if (value === applied.current) return;
    applied.current = value;
    applySoon.cancel();
    setText(value);
  }, [value, applySoon]);
  const clear = () => {
    setText("");
    applyNow("");
  };
  return (
    <TextInput
      {...(hasVisibleLabel ? { label } : { "aria-label": label })}
      maxLength={CHARS_MAX}
      leftSection={<IconSearch size={15} aria-hidden />}
      rightSection={text && <CloseButton size="sm" aria-label="Clear the search" onClick={clear} />}
      {...input}
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
