import { Radio, type RadioGroupProps, Stack } from "@mantine/core";

interface RoleChoicesProps<Role extends string> extends Omit<RadioGroupProps, "children" | "label"> {
  roles: Role[];
  labels: Record<Role, string>;
  descriptions: Record<Role, string>;
}

/** The role of an invited person, with what each role may do. */
export function RoleChoices<Role extends string>({
  roles,
  labels,
  descriptions,
  ...input
}: RoleChoicesProps<Role>) {
  return (
    <Radio.Group label="Role" {...input}>
      <Stack gap="xs" mt="xs">
        {roles.map((role) => (
          <Radio key={role} value={role} label={labels[role]} description={descriptions[role]} />
        ))}
      </Stack>
    </Radio.Group>
  );
}
