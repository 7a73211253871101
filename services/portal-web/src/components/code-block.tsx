import type { ReactNode } from "react";
import classes from "./code-block.module.css";
import { CopyButton } from "./copy-button";

interface CodeBlockProps {
  code: string;
  /** What the code is, for its name and that of its copy button: “the request in curl”. */
  label: string;
  /** What stands above it, with the copy button: a language, a file's name. Without, the button lies on the code. */
  title?: string;
}

/** Code to be taken along. It scrolls by keyboard too. */
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
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section className={classes.code} aria-label={label} tabIndex={0}>
        <code style={{ whiteSpace: "pre" }}>{code}</code>
      </section>
      {!title && <div className={classes.copy}>{copy}</div>}
    </div>
  );
}

/** A name, id or value within a sentence. */
export function InlineCode({ children }: { children: ReactNode }) {
  return <code className={classes.inline}>{children}</code>;
}
