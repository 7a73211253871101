import { Anchor } from "@mantine/core";
import { docsUrl, useConfig } from "../../api/config";

/** Guests may want to read what the API offers before they have an account. */
export function DocsLink() {
  return (
    <Anchor href={docsUrl(useConfig())} size="sm">
      API documentation
    </Anchor>
  );
}
