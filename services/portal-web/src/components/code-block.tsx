import type { ReactNode } from "react";
import classes from "./code-block.module.css";
import { CopyButton } from "./copy-button";

interface CodeBlockProps {
  code: string;
  /** Accessible name of the code and of its copy button: “the request in curl”. */
  label: string;
  /** A bar with a language or file name and the copy button. Without it, the button overlays the code. */
  title?: string;
}

/** A code sample with a copy button. The keyboard can scroll it. */
export function CodeBlock({ code, label, title }: CodeBlockProps) {
  const copy = <CopyButton value={code} label={`Copy ${label}`} />;
  return (
    <div className={classes.frame}>
      {title && (
        <div className={classes.bar}>
          <span>{title}</span>
          {copy}
        </div>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard */}
      <section className={classes.code} aria-label={label} tabIndex={0}>
        <code style={{ whiteSpace: "pre" }}>{code}</code>
      </section>
      {!title && <div className={classes.copy}>{copy}</div>}
    </div>
  );
}

/** A name, id or value in a sentence. */
export function InlineCode({ children }: { children: ReactNode }) {
  return <code className={classes.inline}>{children}</code>;
}
