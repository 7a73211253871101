import { Select } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useState } from "react";
import { useBusiness, useBusinessesNamed } from "../../api/operator-businesses";

const TYPING_PAUSE_MS = 300;

interface BusinessFieldProps {
  /** Its id. */
  value: string | undefined;
  onBusiness: (id: string | undefined) => void;
}

/** Chooses a business by its name, its id or the e-mail address of a user. */
export function BusinessField({ value, onBusiness }: BusinessFieldProps) {
  const [text, setText] = useState("");
  const [search] = useDebouncedValue(text.trim(), TYPING_PAUSE_MS);
  const { data: chosen } = useBusiness(value ?? "", value !== undefined);
  const found = useBusinessesNamed(search).data?.data ?? [];
  const others = found.filter(({ id }) => id !== chosen?.id);
  return (
    <Select
      size="xs"
      label="Business"
      placeholder="Name, id or e-mail"
      searchable
      clearable
      // By keyboard too.
      clearButtonProps={{ "aria-label": "All businesses", "aria-hidden": false, tabIndex: 0 }}
      value={value ?? null}
      data={[...(chosen ? [chosen] : []), ...others].map(({ id, name }) => ({ value: id, label: name }))}
      // The server has searched already.
      filter={({ options }) => options}
      nothingFoundMessage={search ? "No business found" : "Type its name"}
      onChange={(id) => onBusiness(id ?? undefined)}
      onSearchChange={setText}
    />
  );
}
