import { Group, NativeSelect } from "@mantine/core";
import type { AuditFilter } from "../../api/audit-log";
import { useUsers } from "../../api/team";
import { useMay } from "../../app/session";
import { AddressField } from "../../components/address-field";
import { type Period, PeriodFields } from "../../components/period-fields";
import { ACTION_GROUPS } from "./audit-actions";

/** Days, not times. */
export type AuditFields = Omit<AuditFilter, "since" | "until"> & Period;

interface AuditFiltersProps {
  filter: AuditFields;
  onChange: (change: AuditFields) => void;
}

const ACTIONS = Object.entries(ACTION_GROUPS).map(([group, actions]) => ({
  group,
  items: Object.entries(actions).map(([value, label]) => ({ value, label })),
}));

/** Filters the log by action, user, IP address and days. */
export function AuditFilters({ filter, onChange }: AuditFiltersProps) {
  const canListUsers = useMay("manage_users");
  return (
    <Group px="md" pb="md" gap="sm" align="flex-start">
      <NativeSelect
        size="xs"
        label="Action"
        maw={200}
        value={filter.action ?? ""}
        onChange={(event) => onChange({ action: event.currentTarget.value || undefined })}
        data={[{ value: "", label: "All actions" }, ...ACTIONS]}
      />
      {canListUsers && <UserFilter filter={filter} onChange={onChange} />}
      <AddressField value={filter.address} onAddress={(address) => onChange({ address })} />
      <PeriodFields period={filter} onChange={onChange} />
    </Group>
  );
}

function UserFilter({ filter, onChange }: AuditFiltersProps) {
  const users = useUsers();
  return (
    <NativeSelect
      size="xs"
      label="User"
      maw={220}
      value={filter.userId ?? ""}
      onChange={(event) => onChange({ userId: event.currentTarget.value || undefined })}
      data={[
        { value: "", label: "All users" },
        ...users.rows.map((user) => ({ value: user.id, label: user.email })),
      ]}
    />
  );
}
