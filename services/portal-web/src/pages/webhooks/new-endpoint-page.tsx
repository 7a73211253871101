import { Button, Group, Paper, Stack } from "@mantine/core";
import { useState } from "react";
import { Link, useNavigate } from "react-router-dom";
import { useCreateEndpoint } from "../../api/webhooks";
import { useMay } from "../../app/session";
import { BackLink } from "../../components/back-link";
import { FormErrors, focusFirstError } from "../../components/form-errors";
import { PageHeader } from "../../components/page-header";
import { SecretOnce } from "../../components/secret-once";
import { NotForRole } from "../account/not-for-role";
import { asNewEndpoint, EndpointFields, useEndpointForm } from "./endpoint-form";

export function Component() {
  const may = useMay("developer");
  if (may) return <NewEndpoint />;
  return (
    <>
      <BackLink to="/webhooks">Webhooks</BackLink>
      <PageHeader title="Add an endpoint" />
      <NotForRole what="Endpoints are added by owners and developers" />
    </>
  );
}

function NewEndpoint() {
  const create = useCreateEndpoint();
  const navigate = useNavigate();
  const form = useEndpointForm();
  const [created, setCreated] = useState<{ id: string; secret: string } | null>(null);
  const submit = form.onSubmit(
    (values) =>
      create.mutate(asNewEndpoint(values), { onSuccess: ({ id, secret }) => setCreated({ id, secret }) }),
    focusFirstError(form),
  );
  return (
    <>
      <BackLink to="/webhooks">Webhooks</BackLink>
      <PageHeader title="Add an endpoint" description="The signing secret is shown right after." />
      <Paper p="lg" maw="46rem">
        <form onSubmit={submit} noValidate>
          <Stack gap="lg">
            <FormErrors error={create.error} form={form} />
            <EndpointFields form={form} />
            <Group justify="flex-end">
              <Button component={Link} to="/webhooks" variant="default">
                Cancel
              </Button>
              <Button type="submit" loading={create.isPending}>
                Add endpoint
              </Button>
            </Group>
          </Stack>
        </form>
      </Paper>
      <SecretOnce
        secret={created?.secret ?? null}
        title="Your signing secret"
        what="secret"
        onClose={() => created && navigate(`/webhooks/${created.id}?tab=signatures`, { replace: true })}
      >
        Keep it in your backend’s configuration. With it your receiver proves that a webhook comes from us;
        the next page has the code for that.
      </SecretOnce>
    </>
  );
}
