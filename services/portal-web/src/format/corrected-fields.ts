const FIELDS: Record<string, string> = {
  phone: "phone",
  "delivery.addressLine1": "address line 1",
  "delivery.addressLine2": "address line 2",
  "delivery.landmark": "landmark",
  "delivery.city": "city",
  "delivery.state": "state",
  "delivery.pincode": "PIN code",
  "delivery.latitude": "coordinates",
  "delivery.longitude": "coordinates",
  "delivery.fullAddress": "full address",
};

/** The fields of a correction, in words. */
export function correctedFields(fields: string[]): string {
  return [...new Set(fields.map((field) => FIELDS[field] ?? field))].join(", ");
}
