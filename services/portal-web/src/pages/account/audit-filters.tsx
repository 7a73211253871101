import { Group, NativeSelect } from "@mantine/core";
import type { AuditFilter } from "../../api/audit-log";
import { useUsers } from "../../api/team";
import { useMay } from "../../app/session";
import { AddressField } from "../../components/address-field";
import { DayField } from "../../components/day-field";
import { endOfDay, startOfDay } from "../../format/day";
import { ACTION_GROUPS } from "./audit-actions";

interface AuditFiltersProps {
  filter: AuditFilter;
  onChange: (filter: AuditFilter) => void;
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
        onChange={(event) => onChange({ ...filter, action: event.currentTarget.value || undefined })}
        data={[{ value: "", label: "All actions" }, ...ACTIONS]}
      />
      {canListUsers && <UserFilter filter={filter} onChange={onChange} />}
      <AddressField onAddress={(address) => onChange({ ...filter, address })} />
      <DayField label="From" onDay={(date) => onChange({ ...filter, since: startOfDay(date) })} />
      <DayField label="To" onDay={(date) => onChange({ ...filter, until: endOfDay(date) })} />
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
      onChange={(event) => onChange({ ...filter, userId: event.currentTarget.value || undefined })}
      data={[
        { value: "", label: "All users" },
        ...users.rows.map((user) => ({ value: user.id, label: user.email })),
      ]}
    />
  );
}
