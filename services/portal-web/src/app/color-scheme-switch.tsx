import { Menu, useMantineColorScheme } from "@mantine/core";
import { IconCheck, IconDeviceDesktop, IconMoon, IconSun } from "@tabler/icons-react";

const CHOICES = [
  { value: "auto", label: "As the system", icon: IconDeviceDesktop },
  { value: "light", label: "Light", icon: IconSun },
  { value: "dark", label: "Dark", icon: IconMoon },
] as const;

/** Entries of a menu: light, dark, or as the system has it. */
export function ColorSchemeChoices() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <>
      <Menu.Label>Appearance</Menu.Label>
      {CHOICES.map(({ value, label, icon: ChoiceIcon }) => (
        <Menu.Item
          key={value}
          role="menuitemradio"
          aria-checked={colorScheme === value}
          leftSection={<ChoiceIcon size={16} aria-hidden />}
          rightSection={colorScheme === value ? <IconCheck size={14} aria-hidden /> : null}
          onClick={() => setColorScheme(value)}
          closeMenuOnClick={false}
        >
          {label}
        </Menu.Item>
      ))}
    </>
  );
}
