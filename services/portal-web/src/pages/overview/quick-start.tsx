import { Anchor, Button, PasswordInput, SegmentedControl, Skeleton, Stack, Tabs, Text } from "@mantine/core";
import { useLocalStorage } from "@mantine/hooks";
import { lazy, type ReactNode, Suspense, useState } from "react";
import { Link } from "react-router-dom";
import { useApiKeys } from "../../api/api-keys";
import { docsUrl, useConfig } from "../../api/config";
import { useClientPackages } from "../../api/packages";
import { useMay } from "../../app/session";
import { CodeBlock, InlineCode } from "../../components/code-block";
import { ErrorState } from "../../components/error-state";
import { Section } from "../../components/section";
import { keyState, maskedKey } from "../api-keys/key-state";
import classes from "./quick-start.module.css";
import {
  listen,
  PROGRAMS,
  SHELLS,
  type Shell,
  SNIPPETS,
  type SnippetInput,
  secretOfListen,
  USUAL_SHELL,
} from "./snippets";
import { useReference } from "./use-reference";

const CreateKeyDialog = lazy(async () => ({
  default: (await import("../api-keys/create-key-dialog")).CreateKeyDialog,
}));

/** The first test order: a key, a ready-to-run request, its result, and its webhooks. */
export function QuickStart() {
  const config = useConfig();
  const { reference, next } = useReference();
  const { packages } = useClientPackages();
  const [shell, setShell] = useLocalStorage<Shell>({ key: "quick-start-shell", defaultValue: USUAL_SHELL });
  const [apiKey, setApiKey] = useState("");
  const prefix = `sk_test_${config.keySegment}_`;
  const input = {
    apiBaseUrl: config.apiBaseUrl,
    packages,
    shell,
    reference,
    apiKey: apiKey.trim().startsWith(prefix) ? apiKey.trim() : `${prefix}REPLACE_WITH_YOUR_KEY`,
  };
  return (
    <Section
      id="quick-start"
      title="Quick start"
      description="Your first test order and its webhooks in four steps. It is free and gets no driver."
    >
      <ol className={classes.steps}>
        <Step title="Get a Test key">
          <Stack gap="xs" align="flex-start">
            <KeyStep prefix={prefix} apiKey={apiKey} onApiKey={setApiKey} />
            <SegmentedControl
              size="xs"
              aria-label="Shell of the commands below"
              data={SHELLS}
              value={shell}
              onChange={setShell}
            />
          </Stack>
        </Step>
        <Step title="Send the request from your backend">
          <Snippets input={input} />
        </Step>
        <Step title="Check the result">
          <Text c="dimmed">
            The response contains an <InlineCode>id</InlineCode> and a <InlineCode>trackingUrl</InlineCode>,
            and “Connection Test” above changes to Connected. Send the request again: you get the same order,
            because the <InlineCode>Idempotency-Key</InlineCode> is the same. This makes retries safe.
          </Text>
          <Button variant="default" size="xs" mt="xs" onClick={next}>
            Use a new reference
          </Button>
        </Step>
        <Step title="Receive webhooks on your machine">
          <ListenStep input={input} guide={docsUrl(config, "webhooks")} />
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
  const canCreate = useMay("manage_integration");
  // Unknown until the first click, which loads the dialog. Closed, it still shows the new key.
  const [isCreating, setIsCreating] = useState<boolean>();
  const testKey = keys.rows.find((key) => key.mode === "test" && keyState(key).works);
  // Both texts have two lines, so that the page does not move when the keys are loaded.
  const shown = (
    <Text c="dimmed">
      {testKey ? "Your key is" : "A Test key starts with"}{" "}
      <InlineCode>{testKey ? maskedKey(testKey) : prefix}</InlineCode>.<br />
      {testKey ? "It was shown once, when it was created." : "It is shown once, when you create it."}
    </Text>
  );
  return (
    <Stack gap="xs" align="flex-start">
      {keys.isPending ? <Skeleton>{shown}</Skeleton> : shown}
      {canCreate && (
        <Button
          size="xs"
          variant={testKey ? "default" : "filled"}
          disabled={keys.isPending}
          onClick={() => setIsCreating(true)}
        >
          {testKey ? "Create another Test key" : "Create a Test key"}
        </Button>
      )}
      <PasswordInput
        className={classes.paste}
        size="xs"
        label="Insert your key into the code below"
        description="The key does not leave this page."
        placeholder={`${prefix}…`}
        error={
          apiKey.trim() !== "" &&
          !apiKey.trim().startsWith(prefix) &&
          `Only Test keys are inserted: they start with ${prefix}. Keep a Live key in your server’s configuration.`
        }
        autoComplete="off"
        data-1p-ignore
        data-lpignore="true"
        spellCheck={false}
        value={apiKey}
        onChange={(event) => onApiKey(event.currentTarget.value)}
      />
      {isCreating !== undefined && (
        <Suspense fallback={null}>
          <CreateKeyDialog
            opened={isCreating}
            onClose={() => setIsCreating(false)}
            onCreated={(key) => key.mode === "test" && onApiKey(key.key)}
          />
        </Suspense>
      )}
    </Stack>
  );
}

/** The language of both tabs. */
function useLanguage() {
  return useLocalStorage({ key: "quick-start-language", defaultValue: "curl" });
}

function Snippets({ input }: { input: SnippetInput }) {
  const [language, setLanguage] = useLanguage();
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
      {SNIPPETS.map(({ id, label, file, write, install }) => (
        <Tabs.Panel key={id} value={id} pt="sm">
          <Stack gap="xs">
            {install && <Installation commands={install(input)} label={label} />}
            <CodeBlock code={write(input)} label={`the request in ${label}`} title={file} />
          </Stack>
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

interface InstallationProps {
  commands: string | null;
  label: string;
}

function Installation({ commands, label }: InstallationProps) {
  const downloads = docsUrl(useConfig(), "downloads");
  if (commands === null) return <NoPackage label={label} />;
  return (
    <>
      <CodeBlock code={commands} label={`the installation of the package for ${label}`} title="Terminal" />
      <Text c="dimmed">
        The package comes from <Anchor href={downloads}>this service</Anchor> and has its version.
      </Text>
    </>
  );
}

/** Why there is no command that installs the package. */
function NoPackage({ label }: { label: string }) {
  const downloads = docsUrl(useConfig(), "downloads");
  const { list } = useClientPackages();
  if (list.error) {
    const title = "The list of packages could not be loaded";
    return <ErrorState error={list.error} title={title} onRetry={() => list.refetch()} />;
  }
  return (
    <Text c="dimmed">
      This service does not offer <Anchor href={downloads}>the package</Anchor> for {label}. Ask your operator
      for its file, and install it first.
    </Text>
  );
}

/** Brings the webhooks of test orders to a receiver on the integrator's machine. */
function ListenStep({ input, guide }: { input: SnippetInput; guide: string }) {
  const [language, setLanguage] = useLanguage();
  const shown = PROGRAMS.some(({ id }) => id === language) ? language : "node";
  return (
    <Stack gap="xs">
      <Text c="dimmed">
        These commands forward the events of your test orders to a URL on your machine, signed like webhooks.
        You need no tunnel and no endpoint. <Anchor href={guide}>The guide</Anchor> has a receiver to start
        with, which listens at this URL.
      </Text>
      <Tabs value={shown} onChange={(value) => value && setLanguage(value)} keepMounted={false}>
        <Tabs.List aria-label="Program" className={classes.tabs}>
          {PROGRAMS.map(({ id, label }) => (
            <Tabs.Tab key={id} value={id}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {PROGRAMS.map((program) => (
          <Tabs.Panel key={program.id} value={program.id} pt="sm">
            <Stack gap="xs">
              {program.install(input) === null && <NoPackage label={program.label} />}
              <CodeBlock
                code={listen(program, input)}
                label={`the commands that forward webhooks with ${program.label}`}
                title="Terminal"
              />
              <CodeBlock
                code={secretOfListen(program, input)}
                label={`the secret of the receiver with ${program.label}`}
                title="Terminal of the receiver, in the same folder"
              />
            </Stack>
          </Tabs.Panel>
        ))}
      </Tabs>
      <Text c="dimmed">
        Wait for <InlineCode>Ready</InlineCode>. Then open your order under{" "}
        <Anchor component={Link} to="/orders?mode=test">
          Orders
        </Anchor>{" "}
        and simulate its delivery. Each step arrives as a webhook, signed with that secret.
      </Text>
    </Stack>
  );
}
