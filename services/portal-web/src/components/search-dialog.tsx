import { Group, Text } from "@mantine/core";
import { type KeyboardEvent, type ReactNode, useRef, useState } from "react";
import { Link, useNavigate } from "react-router-dom";
import { Dialog } from "./dialog";
import { ErrorState } from "./error-state";
import type { SearchSource } from "./search-button";
import classes from "./search-button.module.css";
import { SearchField } from "./search-field";

/** An order that the search has found. */
export interface SearchHit {
  id: string;
  path: string;
  title: string;
  details: string;
  /** Status and mode. */
  marks: ReactNode;
}

interface SearchDialogProps {
  source: SearchSource;
  onClose: () => void;
}

/** The search for orders. Arrow keys move through the hits. */
export default function SearchDialog({ source, onClose }: SearchDialogProps) {
  const [text, setText] = useState<string>();
  const { hits, error } = source.useHits(text);
  const navigate = useNavigate();
  const frame = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: KeyboardEvent) => {
    const typed = event.target instanceof HTMLInputElement ? event.target.value.trim() : "";
    if (event.key === "Enter" && typed !== "") {
      navigate(source.all(typed));
      onClose();
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || !frame.current) return;
    event.preventDefault();
    const stops = [...frame.current.querySelectorAll<HTMLElement>("input, a")];
    stops[stops.indexOf(document.activeElement as HTMLElement) + step]?.focus();
  };
  return (
    <Dialog opened onClose={onClose} title="Search orders" size="lg">
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the keys of the field and the links within */}
      <div ref={frame} className={classes.frame} onKeyDown={onKeyDown}>
        <SearchField
          label="Search orders"
          placeholder={source.placeholder}
          value={text}
          onChange={setText}
          size="md"
          autoFocus
        />
        <div aria-live="polite">
          {error ? <ErrorState error={error} title="The search failed" /> : null}
          {hits?.length === 0 && (
            <Text c="dimmed" mt="md">
              No order found. Enter the beginning of words, the end of a reference, or a whole code.{" "}
              {source.limits}
            </Text>
          )}
        </div>
        {text !== undefined && hits !== undefined && hits.length > 0 && (
          <ul className={classes.hits}>
            {hits.map((hit) => (
              <li key={hit.id}>
                <Hit hit={hit} onOpen={onClose} />
              </li>
            ))}
            <li>
              <Link to={source.all(text)} className={classes.hit} onClick={onClose}>
                <Text size="sm" c="var(--mantine-color-anchor)">
                  Show all matching orders
                </Text>
              </Link>
            </li>
          </ul>
        )}
      </div>
    </Dialog>
  );
}

function Hit({ hit, onOpen }: { hit: SearchHit; onOpen: () => void }) {
  return (
    <Link to={hit.path} className={classes.hit} onClick={onOpen}>
      <Group justify="space-between" gap="xs">
        <Text size="sm" fw={500} style={{ overflowWrap: "anywhere" }}>
          {hit.title}
        </Text>
        <Group gap="xs">{hit.marks}</Group>
      </Group>
      <Text size="xs" c="dimmed">
        {hit.details}
      </Text>
    </Link>
  );
}
