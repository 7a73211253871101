import { useConfig } from "../api/config";
import classes from "./brand.module.css";

/** The operator's name, with a logo in the brand colour. */
export function Brand() {
  const { brand } = useConfig();
  return (
    <span className={classes.brand}>
      <svg className={classes.mark} viewBox="0 0 32 32" aria-hidden="true">
        <rect width="32" height="32" rx="8" fill="var(--mantine-primary-color-filled)" />
        <path
          d="M8 11.5 16 7l8 4.5v9L16 25l-8-4.5zM8 11.5l8 4.5m0 0 8-4.5M16 16v9"
          fill="none"
          stroke="var(--mantine-primary-color-contrast)"
          strokeWidth="2"
          strokeLinejoin="round"
        />
      </svg>
      {brand.name}
    </span>
  );
}
