import { Anchor, Stack, Tabs, Text } from "@mantine/core";
import { docsUrl, useConfig } from "../../api/config";
import type { Endpoint } from "../../api/webhooks";
import { useMay } from "../../app/session";
import { CodeBlock, InlineCode } from "../../components/code-block";
import { Section } from "../../components/section";
import { SignatureCheck } from "./signature-check";
import { VERIFYING } from "./verifying";

/** How a receiver proves that a webhook is ours, and why its proof fails. */
export function Signatures({ endpoint }: { endpoint: Endpoint }) {
  const config = useConfig();
  const { headerPrefix } = config;
  // Its answer holds a good signature, which is not for whoever only looks.
  const may = useMay("developer");
  return (
    <Stack>
      <Section
        title="Verify each webhook"
        description={
          <>
            Before anything parses the body, over the bytes as they arrived.{" "}
            <Code>{headerPrefix}-Signature</Code> is <Code>sha256=</Code> and the hex of HMAC-SHA256 over{" "}
            <Code>timestamp.body</Code>, keyed with the whole secret as it was shown.
          </>
        }
      >
        <Tabs defaultValue={VERIFYING[0]?.name} keepMounted={false}>
          <Tabs.List mb="sm">
            {VERIFYING.map(({ name }) => (
              <Tabs.Tab key={name} value={name}>
                {name}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          {VERIFYING.map(({ name, code }) => (
            <Tabs.Panel key={name} value={name}>
              <CodeBlock code={code(headerPrefix)} label={`the verification in ${name}`} />
            </Tabs.Panel>
          ))}
        </Tabs>
        <Text c="dimmed" mt="sm">
          Then answer 2xx at once and work afterwards. Keep the <Code>id</Code> of what you have taken: the
          same event may come twice. Libraries for Standard Webhooks verify it too, by{" "}
          <Code>webhook-signature</Code>. <Anchor href={docsUrl(config, "webhooks")}>The guide</Anchor> tells
          of retries, the order of events and rotated secrets.
        </Text>
      </Section>
      {may && <SignatureCheck endpoint={endpoint} />}
    </Stack>
  );
}

const Code = InlineCode;
