import { ActionIcon, Button, Group, Input, Stack, Text, TextInput } from "@mantine/core";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import type { ReactNode } from "react";
import type { GroupRole } from "../../api/types";
import { RoleSelect } from "./role-select";

interface SsoGroupsProps {
  value: GroupRole[];
  onChange: (value: GroupRole[]) => void;
  error: ReactNode;
}

/** Which group gives which role. */
export function SsoGroups({ value, onChange, error }: SsoGroupsProps) {
  const replace = (index: number, by: Partial<GroupRole>) =>
    onChange(value.map((pair, at) => (at === index ? { ...pair, ...by } : pair)));
  return (
    <Stack gap="xs" role="group" aria-label="Roles of groups">
      <div>
        <Text fw={600} size="sm">
          Roles of groups
        </Text>
        <Text c="dimmed" size="xs">
          Of several groups of a person, the first in this list counts.
        </Text>
      </div>
      {value.map((pair, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other identity while they are edited
        <Group key={index} gap="xs" wrap="nowrap">
          <TextInput
            size="xs"
            style={{ flex: 1 }}
            aria-label={`Group ${index + 1}`}
            placeholder="Name of the group"
            spellCheck={false}
            value={pair.group}
            onChange={(event) => replace(index, { group: event.currentTarget.value })}
          />
          <RoleSelect
            label={`Role of group ${index + 1}`}
            value={pair.role}
            onChange={(role) => replace(index, { role })}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`Remove group ${index + 1}`}
            onClick={() => onChange(value.filter((_, at) => at !== index))}
          >
            <IconTrash size={16} aria-hidden />
          </ActionIcon>
        </Group>
      ))}
      {error && <Input.Error role="alert">{error}</Input.Error>}
      <Button
        size="xs"
        variant="default"
        leftSection={<IconPlus size={14} aria-hidden />}
        style={{ alignSelf: "flex-start" }}
        onClick={() => onChange([...value, { group: "", role: "viewer" }])}
      >
        Add a group
      </Button>
    </Stack>
  );
}
