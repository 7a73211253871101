import { Button, Group, SimpleGrid, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { notifications } from "@mantine/notifications";
import { useId } from "react";
import { type PickupProfile, useSavePickupProfile } from "../../api/pickup-profile";
import { CallButton } from "../../components/call-button";
import { FormErrors, focusFirstError } from "../../components/form-errors";
import { Section } from "../../components/section";
import { Completeness } from "./completeness";
import { INDIAN_STATES } from "./indian-states";
import { missingOf, profileOf, profileRules, valuesOf } from "./profile-values";

const TWO_COLUMNS = { base: 1, xs: 2 };

/** The profile form; read-only for users who may not change it. */
export function ProfileForm({ profile, canChange }: { profile: PickupProfile; canChange: boolean }) {
  const save = useSavePickupProfile();
  const form = useProfileForm(profile, canChange);
  const submit = form.onSubmit(
    (values) =>
      save.mutate(profileOf(values), {
        onSuccess: (saved) => {
          form.setValues(valuesOf(saved));
          form.resetDirty(valuesOf(saved));
          notifications.show({ message: "Pickup profile saved." });
        },
      }),
    focusFirstError(form),
  );
  const isDirty = form.isDirty();
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <Completeness missing={missingOf(form.values)} isSaved={!isDirty && profile.complete} />
        <FormErrors error={save.error} form={form} />
        <Contact form={form} />
        <Address form={form} />
        <Place form={form} />
        {canChange ? (
          <Group justify="flex-end">
            {isDirty && (
              <Button variant="default" onClick={form.reset}>
                Undo changes
              </Button>
            )}
            <CallButton type="submit" loading={save.isPending} disabled={!isDirty}>
              Save profile
            </CallButton>
          </Group>
        ) : (
          <Text c="dimmed">Only developers and owners can change this profile.</Text>
        )}
      </Stack>
    </form>
  );
}

function useProfileForm(profile: PickupProfile, canChange: boolean) {
  return useForm({
    initialValues: valuesOf(profile),
    validate: profileRules,
    enhanceGetInputProps: () => ({ readOnly: !canChange }),
  });
}

type Form = ReturnType<typeof useProfileForm>;

function Contact({ form }: { form: Form }) {
  return (
    <Section title="Pickup contact">
      <Stack>
        <TextInput
          label="Business name"
          description="As shown at the entrance."
          withAsterisk
          maxLength={120}
          autoComplete="organization"
          {...form.getInputProps("businessName")}
        />
        <SimpleGrid cols={TWO_COLUMNS}>
          <TextInput
            label="Contact"
            withAsterisk
            maxLength={120}
            autoComplete="name"
            {...form.getInputProps("contactName")}
          />
          <TextInput
            label="Phone"
            type="tel"
            placeholder="+91 98765 43210"
            withAsterisk
            autoComplete="tel"
            {...form.getInputProps("phone")}
          />
        </SimpleGrid>
      </Stack>
    </Section>
  );
}

function Address({ form }: { form: Form }) {
  const states = useId();
  return (
    <Section title="Address">
      <Stack>
        <TextInput
          label="Address line 1"
          description="Building and street."
          withAsterisk
          maxLength={250}
          autoComplete="address-line1"
          {...form.getInputProps("addressLine1")}
        />
        <TextInput
          label="Address line 2"
          description="Floor, unit, area."
          maxLength={250}
          autoComplete="address-line2"
          {...form.getInputProps("addressLine2")}
        />
        <TextInput
          label="Landmark"
          description="Something that drivers see from the street."
          maxLength={250}
          {...form.getInputProps("landmark")}
        />
        <SimpleGrid cols={{ base: 1, xs: 3 }}>
          <TextInput
            label="City"
            withAsterisk
            maxLength={120}
            autoComplete="address-level2"
            {...form.getInputProps("city")}
          />
          <TextInput
            label="State"
            withAsterisk
            maxLength={120}
            list={states}
            autoComplete="address-level1"
            {...form.getInputProps("state")}
          />
          <TextInput
            label="PIN code"
            withAsterisk
            inputMode="numeric"
            maxLength={7}
            autoComplete="postal-code"
            {...form.getInputProps("pincode")}
          />
        </SimpleGrid>
        <datalist id={states}>
          {INDIAN_STATES.map((state) => (
            <option key={state} value={state} />
          ))}
        </datalist>
      </Stack>
    </Section>
  );
}

function Place({ form }: { form: Form }) {
  return (
    <Section title="Location" description="Optional. For places that are hard to find by address.">
      <Stack>
        <SimpleGrid cols={TWO_COLUMNS}>
          <TextInput
            label="Latitude"
            placeholder="12.9716"
            inputMode="decimal"
            {...form.getInputProps("latitude")}
          />
          <TextInput
            label="Longitude"
            placeholder="77.5946"
            inputMode="decimal"
            {...form.getInputProps("longitude")}
          />
        </SimpleGrid>
        <Textarea
          label="Full address"
          description="The address in one text, as drivers should read it."
          autosize
          minRows={2}
          maxRows={6}
          maxLength={1000}
          {...form.getInputProps("fullAddress")}
        />
      </Stack>
    </Section>
  );
}
