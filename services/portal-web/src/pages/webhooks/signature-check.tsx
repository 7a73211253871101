import { Alert, Group, List, NativeSelect, Stack, Switch, Text, Textarea, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useConfig } from "../../api/config";
import {
  type Endpoint,
  type SignatureEvidence,
  type SignatureFindings,
  useVerifySignature,
} from "../../api/webhooks";
import { CallButton } from "../../components/call-button";
import { CodeBlock } from "../../components/code-block";
import { FormErrors, focusFirstError } from "../../components/form-errors";
import { Section } from "../../components/section";

interface Values extends Record<string, unknown> {
  header: string;
  timestamp: string;
  id: string;
  signature: string;
  body: string;
  isBase64: boolean;
}

const STANDARD = "webhook-signature";

/** Explains a mismatch: the server recomputes the signature from the receiver's data. */
export function SignatureCheck({ endpoint }: { endpoint: Endpoint }) {
  const { headerPrefix } = useConfig();
  const verify = useVerifySignature(endpoint.id);
  const own = `${headerPrefix}-Signature`;
  const form = useForm<Values>({
    initialValues: { header: own, timestamp: "", id: "", signature: "", body: "", isBase64: false },
    validate: {
      timestamp: (text) => (text === "" ? "Paste the timestamp header." : null),
      signature: (text) => (text === "" ? "Paste the signature header." : null),
      id: (text, { header }) => (header === STANDARD && text === "" ? "Paste the webhook-id header." : null),
    },
  });
  const isStandard = form.values.header === STANDARD;
  const submit = form.onSubmit((values) => verify.mutate(asEvidence(values)), focusFirstError(form));
  return (
    <Section
      title="Check a signature"
      description="Paste the data that your receiver got. It is checked with this endpoint’s secret, and never stored or logged."
    >
      <form onSubmit={submit} noValidate>
        <Stack>
          <FormErrors error={verify.error} form={form} />
          <Group align="flex-start" grow preventGrowOverflow={false} wrap="wrap">
            <NativeSelect
              label="Header"
              data={[own, `${own}-Next`, STANDARD]}
              {...form.getInputProps("header")}
            />
            <TextInput
              label={isStandard ? "webhook-timestamp" : `${headerPrefix}-Timestamp`}
              placeholder="1767225600"
              autoComplete="off"
              {...form.getInputProps("timestamp")}
            />
            {isStandard && <TextInput label="webhook-id" autoComplete="off" {...form.getInputProps("id")} />}
          </Group>
          <TextInput
            label="Signature as received"
            placeholder={isStandard ? "v1,…" : "sha256=…"}
            autoComplete="off"
            {...form.getInputProps("signature")}
          />
          <Textarea
            label={form.values.isBase64 ? "Raw body, as base64" : "Raw body"}
            description="Exactly as received: no added line breaks, not parsed and serialized again."
            autosize
            minRows={4}
            maxRows={14}
            spellCheck={false}
            styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
            {...form.getInputProps("body")}
          />
          <Group justify="space-between">
            <Switch label="The body is base64" {...form.getInputProps("isBase64", { type: "checkbox" })} />
            <CallButton type="submit" loading={verify.isPending}>
              Check signature
            </CallButton>
          </Group>
        </Stack>
      </form>
      <div role="status">{verify.data && <Findings findings={verify.data} />}</div>
    </Section>
  );
}

function asEvidence({ header, timestamp, id, signature, body, isBase64 }: Values): SignatureEvidence {
  return {
    header,
    timestamp,
    signature,
    ...(header === STANDARD ? { id } : {}),
    ...(isBase64 ? { bodyBase64: body } : { body }),
  };
}

function Findings({ findings }: { findings: SignatureFindings }) {
  return (
    <Stack mt="lg">
      <Alert
        color={findings.matches ? "green" : "red"}
        variant="light"
        title={findings.matches ? "The signature matches" : "The signature does not match"}
      >
        {findings.problems.length > 0 ? (
          <List size="sm" spacing={4}>
            {findings.problems.map((problem) => (
              <List.Item key={problem.code}>{problem.message}</List.Item>
            ))}
          </List>
        ) : findings.matches ? (
          "Your receiver has what we sent. If it still rejects the webhook, check its comparison."
        ) : (
          "No common mistake explains it: the body, the secret or the timestamp is different."
        )}
      </Alert>
      <Value name="String to sign" value={findings.stringToSign} />
      <Value name="Received" value={findings.received} />
    </Stack>
  );
}

function Value({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <Text size="xs" c="dimmed" mb={4}>
        {name}
      </Text>
      <CodeBlock code={value} label={name.toLowerCase()} />
    </div>
  );
}
