import type { NewPickupProfile, PickupProfile } from "../../api/pickup-profile";

/** The form's values: every field as text. */
export type ProfileValues = Record<keyof NewPickupProfile, string>;

/** Labels of the fields that the server requires. */
export const REQUIRED = {
  businessName: "business name",
  contactName: "contact",
  phone: "phone",
  addressLine1: "address",
  city: "city",
  state: "state",
  pincode: "PIN code",
} as const satisfies Partial<Record<keyof ProfileValues, string>>;

const REQUIRED_NAMES = Object.keys(REQUIRED) as (keyof typeof REQUIRED)[];

export function valuesOf(profile: PickupProfile): ProfileValues {
  const text = (value: string | number | null | undefined) => (value == null ? "" : String(value));
  return {
    businessName: text(profile.businessName),
    contactName: text(profile.contactName),
    phone: text(profile.phone),
    addressLine1: text(profile.addressLine1),
    addressLine2: text(profile.addressLine2),
    city: text(profile.city),
    state: text(profile.state),
    pincode: text(profile.pincode),
    landmark: text(profile.landmark),
    latitude: text(profile.latitude),
    longitude: text(profile.longitude),
    fullAddress: text(profile.fullAddress),
  };
}

export function profileOf(values: ProfileValues): NewPickupProfile {
  const optional = (text: string) => (text.trim() === "" ? null : text.trim());
  const degrees = (text: string) => (text.trim() === "" ? null : Number(text));
  return {
    businessName: values.businessName.trim(),
    contactName: values.contactName.trim(),
    phone: values.phone.trim(),
    addressLine1: values.addressLine1.trim(),
    addressLine2: optional(values.addressLine2),
    city: values.city.trim(),
    state: values.state.trim(),
    pincode: values.pincode.trim(),
    landmark: optional(values.landmark),
    latitude: degrees(values.latitude),
    longitude: degrees(values.longitude),
    fullAddress: optional(values.fullAddress),
  };
}

/** The required fields that are still empty. */
export function missingOf(values: ProfileValues): string[] {
  return REQUIRED_NAMES.filter((name) => values[name].trim() === "").map((name) => REQUIRED[name]);
}

export const REQUIRED_COUNT = REQUIRED_NAMES.length;

/** Checks before the form is sent. */
export const profileRules = {
  businessName: (text: string) => (text.trim() ? null : "Enter the business name."),
  contactName: (text: string) => (text.trim() ? null : "Enter a contact name."),
  phone: phoneError,
  addressLine1: (text: string) => (text.trim() ? null : "Enter the building and street."),
  city: (text: string) => (text.trim() ? null : "Enter the city."),
  state: (text: string) => (text.trim() ? null : "Enter the state."),
  pincode: (text: string) =>
    /^\d{3}\s?\d{3}$/.test(text.trim()) ? null : "Enter six digits, such as 560001.",
  latitude: (text: string, values: ProfileValues) => degreesError(text, values.longitude, 90),
  longitude: (text: string, values: ProfileValues) => degreesError(text, values.latitude, 180),
};

function phoneError(text: string): string | null {
  if (text.trim() === "") return "Enter a phone number that drivers can call.";
  return text.trim().startsWith("+") ? null : "Start with the country code, such as +91.";
}

function degreesError(text: string, other: string, limit: number): string | null {
  if (text.trim() === "")
    return other.trim() === "" ? null : "Enter both latitude and longitude, or neither.";
  const degrees = Number(text);
  if (Number.isFinite(degrees) && Math.abs(degrees) <= limit) return null;
  return `Enter degrees between -${limit} and ${limit}.`;
}
