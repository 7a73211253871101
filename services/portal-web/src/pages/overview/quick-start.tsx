import { Button, PasswordInput, Skeleton, Stack, Tabs, Text } from "@mantine/core";
import { useDisclosure, useLocalStorage } from "@mantine/hooks";
import { type ReactNode, useState } from "react";
import { useApiKeys } from "../../api/api-keys";
import { useConfig } from "../../api/config";
import { useMay } from "../../app/session";
import { CodeBlock, InlineCode } from "../../components/code-block";
import { Section } from "../../components/section";
import { CreateKeyDialog } from "../api-keys/create-key-dialog";
import { keyState, maskedKey } from "../api-keys/key-state";
import classes from "./quick-start.module.css";
import { SNIPPETS } from "./snippets";
import { useReference } from "./use-reference";

/** From nothing to a first test order: a key, a request that works as it is, and what to look at then. */
export function QuickStart() {
  const { apiBaseUrl, keySegment } = useConfig();
  const { reference, next } = useReference();
  const [apiKey, setApiKey] = useState("");
  const prefix = `sk_test_${keySegment}_`;
  const input = { apiBaseUrl, reference, apiKey: apiKey.trim() || `${prefix}REPLACE_WITH_YOUR_KEY` };
  return (
    <Section
      id="quick-start"
      title="Quick start"
      description="Your first test order in three steps. It costs nothing, and no driver comes."
    >
      <ol className={classes.steps}>
        <Step title="Take a Test key">
          <KeyStep prefix={prefix} apiKey={apiKey} onApiKey={setApiKey} />
        </Step>
        <Step title="Send the request from your back end">
          <Snippets input={input} />
        </Step>
        <Step title="See what came of it">
          <Text c="dimmed">
            The answer is 201 with an <InlineCode>id</InlineCode> and a <InlineCode>trackingCode</InlineCode>,
            and “Connection Test” above turns to Connected. Send it once more: the same order is answered
            again, since its <InlineCode>Idempotency-Key</InlineCode> is the same. That is how a retry stays
            safe.
          </Text>
          <Button variant="default" size="xs" mt="xs" onClick={next}>
            Use a new reference
          </Button>
        </Step>
      </ol>
    </Section>
  );
}

function Step({ title, children }: { title: string; children: ReactNode }) {
  return (
    <li className={classes.step}>
      <Text fw={600} mb={6}>
        {title}
      </Text>
      {children}
    </li>
  );
}

interface KeyStepProps {
  prefix: string;
  apiKey: string;
  onApiKey: (key: string) => void;
}

function KeyStep({ prefix, apiKey, onApiKey }: KeyStepProps) {
  const keys = useApiKeys();
  const mayCreate = useMay("developer");
  const [isCreating, { open, close }] = useDisclosure(false);
  const testKey = keys.rows.find((key) => key.mode === "test" && keyState(key).works);
  return (
    <Stack gap="xs" align="flex-start">
      {keys.isPending ? (
        <Skeleton height={20} width="60%" />
      ) : testKey ? (
        <Text c="dimmed">
          You have <InlineCode>{maskedKey(testKey)}</InlineCode>. The whole key was shown when it was created.
        </Text>
      ) : (
        <Text c="dimmed">
          It begins with <InlineCode>{prefix}</InlineCode> and is shown once, when you create it.
        </Text>
      )}
      {mayCreate && !keys.isPending && (
        <Button size="xs" variant={testKey ? "default" : "filled"} onClick={open}>
          {testKey ? "Create another Test key" : "Create a Test key"}
        </Button>
      )}
      <PasswordInput
        className={classes.paste}
        size="xs"
        label="Fill your key into the code below"
        description="It stays in this page until you leave it."
        placeholder={`${prefix}…`}
        autoComplete="off"
        data-1p-ignore
        data-lpignore="true"
        spellCheck={false}
        value={apiKey}
        onChange={(event) => onApiKey(event.currentTarget.value)}
      />
      <CreateKeyDialog
        opened={isCreating}
        onClose={close}
        onCreated={(key) => key.mode === "test" && onApiKey(key.key)}
      />
    </Stack>
  );
}

function Snippets({ input }: { input: { apiBaseUrl: string; apiKey: string; reference: string } }) {
  const [language, setLanguage] = useLocalStorage({ key: "quick-start-language", defaultValue: "curl" });
  return (
    <Tabs
      value={language}
      onChange={(value) => setLanguage(value ?? "curl")}
      variant="default"
      keepMounted={false}
    >
      <Tabs.List aria-label="Language" className={classes.tabs}>
        {SNIPPETS.map(({ id, label }) => (
          <Tabs.Tab key={id} value={id}>
            {label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {SNIPPETS.map(({ id, label, file, write }) => (
        <Tabs.Panel key={id} value={id} pt="sm">
          <CodeBlock code={write(input)} label={`the request in ${label}`} title={file} />
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
