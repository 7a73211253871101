import { Kbd, UnstyledButton } from "@mantine/core";
import { useDisclosure, useHotkeys, useOs } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { lazy, Suspense } from "react";
import classes from "./search-button.module.css";
import type { SearchHit } from "./search-dialog";

const SearchDialog = lazy(() => import("./search-dialog"));

export interface SearchSource {
  /** The hits of a text: `undefined` while they are unknown. */
  useHits: (text: string | undefined) => { hits: SearchHit[] | undefined; error: unknown };
  /** The page with all hits. */
  all: (text: string) => string;
  placeholder: string;
  /** What it does not find, for a search without hits. */
  limits?: string;
}

interface SearchButtonProps {
  source: SearchSource;
  hasShortcut?: boolean;
  isIcon?: boolean;
}

/** Opens the search for orders, as ⌘K or Ctrl+K does. Only one on a page may have the shortcut. */
export function SearchButton({ source, hasShortcut = false, isIcon = false }: SearchButtonProps) {
  const [isOpen, { open, close }] = useDisclosure(false);
  const isMac = useOs() === "macos";
  useHotkeys(hasShortcut ? [["mod+K", open]] : [], []);
  return (
    <>
      <UnstyledButton
        className={isIcon ? `${classes.button} ${classes.icon}` : classes.button}
        onClick={open}
        aria-keyshortcuts="Meta+K Control+K"
      >
        <IconSearch size={16} aria-hidden />
        <span className={classes.label}>Search orders</span>
        <Kbd size="xs" className={classes.keys} aria-hidden>
          {isMac ? "⌘ K" : "Ctrl K"}
        </Kbd>
      </UnstyledButton>
      {isOpen && (
        <Suspense fallback={null}>
          <SearchDialog source={source} onClose={close} />
        </Suspense>
      )}
    </>
  );
}
