import { Anchor, Stack, Tabs, Text } from "@mantine/core";
import { docsUrl, useConfig } from "../../api/config";
import type { Endpoint } from "../../api/webhooks";
import { useMay } from "../../app/session";
import { CodeBlock, InlineCode } from "../../components/code-block";
import { Section } from "../../components/section";
import { SignatureCheck } from "./signature-check";
import { VERIFYING } from "./verifying";

/** How a receiver verifies a webhook, and a check for mismatches. */
export function Signatures({ endpoint }: { endpoint: Endpoint }) {
  const config = useConfig();
  const { headerPrefix } = config;
  // The response contains a valid signature, which viewers must not get.
  const canEdit = useMay("manage_integration");
  return (
    <Stack>
      <Section
        title="Verify each webhook"
        description={
          <>
            Verify the raw bytes before you parse the body. <Code>{headerPrefix}-Signature</Code> is{" "}
            <Code>sha256=</Code> and the hex HMAC-SHA256 of <Code>timestamp.body</Code>, keyed with the full
            secret as shown.
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
          Then respond with 2xx and process the event afterwards. Store the <Code>id</Code> of each processed
          event: an event can arrive twice. Libraries for Standard Webhooks can verify{" "}
          <Code>webhook-signature</Code> instead.{" "}
          <Anchor href={docsUrl(config, "webhook-reference")}>The guide</Anchor> explains retries, the order
          of events and secret rotation.
        </Text>
      </Section>
      {canEdit && <SignatureCheck endpoint={endpoint} />}
    </Stack>
  );
}

const Code = InlineCode;
