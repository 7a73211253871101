import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from "@mantine/core";
import { ACCENT_SHADE, contrast, readableShade, type Shades, shadesOf } from "../format/colour";

const DARK_BODY = "#131417";
const DARK_RAISED = "#1b1d21";
const LIGHT_RAISED = "#f7f8fa";

const GRAY: MantineColorsTuple = [
  "#f7f8fa",
  "#f0f1f4",
  "#e5e7eb",
  "#d8dbe1",
  "#c3c7cf",
  "#9aa0ab",
  "#6b717d",
  "#4b515c",
  "#2f343d",
  "#1a1d23",
];
const DARK: MantineColorsTuple = [
  "#e7e8eb",
  "#c6c9cf",
  "#9fa3ac",
  "#80858f",
  "#33363d",
  "#282a30",
  DARK_RAISED,
  DARK_BODY,
  "#0f1012",
  "#0b0c0e",
];

/** The theme in the operator's own colour. */
export function themeFor(accent: string) {
  const shades = shadesOf(accent);
  const filled = filledShade(shades);
  return createTheme({
    primaryColor: "brand",
    primaryShade: { light: filled, dark: filled },
    colors: { brand: shades, gray: GRAY, dark: DARK },
    autoContrast: true,
    fontFamily: "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Helvetica Neue', sans-serif",
    fontFamilyMonospace:
      "ui-monospace, 'SF Mono', 'Cascadia Code', Menlo, Consolas, 'DejaVu Sans Mono', monospace",
    fontSizes: { xs: "0.78125rem", sm: "0.875rem", md: "0.9375rem", lg: "1.0625rem", xl: "1.25rem" },
    defaultRadius: "md",
    radius: { sm: "4px", md: "6px", lg: "10px" },
    cursorType: "pointer",
    respectReducedMotion: true,
    headings: {
      fontWeight: "600",
      sizes: {
        h1: { fontSize: "1.375rem", lineHeight: "1.3" },
        h2: { fontSize: "1rem", lineHeight: "1.4" },
        h3: { fontSize: "0.9375rem", lineHeight: "1.4" },
      },
    },
    // By name, not by `extend`, which would load all of them with the first page.
    components: {
      Anchor: { defaultProps: { underline: "always" } },
      Badge: { defaultProps: { variant: "default", tt: "none", fw: 500 } },
      Button: { defaultProps: { size: "sm" } },
      // WAI-ARIA forbids its placeholder inside a menu.
      Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
      Modal: { defaultProps: { centered: true, closeButtonProps: { "aria-label": "Close" }, radius: "lg" } },
      Notification: { defaultProps: { closeButtonProps: { "aria-label": "Dismiss" } } },
      Paper: { defaultProps: { withBorder: true, radius: "lg" } },
      PasswordInput: {
        defaultProps: {
          visibilityToggleFocusable: true,
          visibilityToggleButtonProps: { "aria-label": "Show characters" },
        },
      },
      Table: { defaultProps: { verticalSpacing: "sm", horizontalSpacing: "md" } },
      Text: { defaultProps: { size: "sm" } },
    },
  });
}

/** Button text is white or black. Picks the accent, or the first darker shade on which white is readable. */
function filledShade(shades: Shades): 6 | 7 | 8 | 9 {
  const isLight = contrast(shades[ACCENT_SHADE], "#ffffff") < 2;
  if (isLight) return ACCENT_SHADE;
  const index = readableShade(shades, "#ffffff", "darker");
  return index as 6 | 7 | 8 | 9;
}

/** Replaces Mantine's colours that are too pale to read (WCAG 2 AA). */
export function variablesFor(accent: string): CSSVariablesResolver {
  const shades = shadesOf(accent);
  const onLight = shades[readableShade(shades, shades[0], "darker")] ?? "#1a1d23";
  const onDark = shades[readableShade(shades, DARK_RAISED, "lighter")] ?? "#ffffff";
  return () => ({
    variables: {},
    light: {
      "--mantine-color-text": "#1f232b",
      "--mantine-color-dimmed": "#596070",
      "--mantine-color-placeholder": "#6b7280",
      "--mantine-color-error": "#b42318",
      "--mantine-color-anchor": onLight,
      "--mantine-color-brand-text": onLight,
      "--mantine-color-brand-outline": onLight,
      "--mantine-color-brand-light-color": onLight,
      "--mantine-color-red-light-color": "#b42318",
      "--mantine-color-yellow-light-color": "#8a4b05",
      "--mantine-color-green-light-color": "#0f6b45",
      "--mantine-color-blue-light-color": "#1d4fb8",
      "--surface-raised": LIGHT_RAISED,
      "--line": "#e5e7eb",
    },
    dark: {
      "--mantine-color-dimmed": "#a1a6b0",
      "--mantine-color-placeholder": "#8b919c",
      "--mantine-color-error": "#ff9a8f",
      "--mantine-color-anchor": onDark,
      "--mantine-color-brand-text": onDark,
      "--mantine-color-brand-outline": onDark,
      "--mantine-color-brand-light-color": onDark,
      "--mantine-color-red-light-color": "#ff9a8f",
      "--surface-raised": DARK_RAISED,
      "--line": "#2a2d33",
    },
  });
}
