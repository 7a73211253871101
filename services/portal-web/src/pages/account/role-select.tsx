import { NativeSelect } from "@mantine/core";
import { useConfig } from "../../api/config";
import type { Role } from "../../api/types";
import { ROLE_LABELS } from "../../app/session";

interface RoleSelectProps {
  /** Accessible name. */
  label: string;
  value: Role;
  onChange: (role: Role) => void;
}

/** Selects one of the roles that the server knows. */
export function RoleSelect({ label, value, onChange }: RoleSelectProps) {
  const { roles } = useConfig();
  const known = [...new Set([...roles, value])].filter((role): role is Role => role in ROLE_LABELS);
  return (
    <NativeSelect
      size="xs"
      w={130}
      aria-label={label}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value as Role)}
      data={known.map((role) => ({ value: role, label: ROLE_LABELS[role] }))}
    />
  );
}
