// The business's own settings: its pickup profile, and the plan that it requests.
import { operator } from "../support/api";
import { ask, logInAsOperator, newBusiness, PICKUP_PROFILE } from "../support/business";
import { check } from "../support/page-checks";
import { fillPickupProfile, heading, row } from "../support/pages";
import { expect, screenshot, test } from "../support/test";

test("the pickup profile counts missing fields, and shows each field error of the server at its field", async ({
  page,
}) => {
  await newBusiness(page, "Fetched here");
  await page.goto("/pickup-profile");
  await expect(page.getByText("Incomplete")).toBeVisible();
  await expect(page.getByText(/of 7 required fields filled in\. Missing: /)).toBeVisible();
  await fillPickupProfile(page);
  await expect(page.getByText("All required fields are filled in. Save the profile.")).toBeVisible();

  // The page accepts this number, and the server rejects it.
  const phone = page.getByRole("textbox", { name: "Phone" });
  await phone.fill("+91 12");
  await page.getByRole("button", { name: "Save profile" }).click();
  await expect(
    page
      .getByRole("alert")
      .or(phone.and(page.locator("[aria-invalid=true]")))
      .first(),
  ).toBeVisible();
  const described = await phone.evaluate((input) =>
    (input.getAttribute("aria-describedby") ?? "")
      .split(" ")
      .map((id) => document.getElementById(id)?.textContent ?? "")
      .join(" "),
  );
  expect(described).toMatch(/phone|number|digits/i);
  await expect(phone).toBeFocused();
  await screenshot(page, "pickup-profile-fault");

  await phone.fill("+91 98000 00002");
  await page.getByRole("button", { name: "Save profile" }).click();
  await expect(page.getByText("Complete", { exact: true })).toBeVisible();
  // The button is disabled now.
  await expect(page.getByRole("heading", { level: 1 })).toBeFocused();
  await page.reload();
  await expect(
    page.getByText("Complete. Orders without their own pickup address use this one."),
  ).toBeVisible();
  await expect(page.getByRole("button", { name: "Save profile" })).toBeDisabled();
});

test("a plan is requested and replaced by another one, and a change is requested once it is active", async ({
  page,
}) => {
  const business = await newBusiness(page, "Growing");
  await page.goto("/subscription");
  await heading(page, "Subscription");
  const standing = page.getByRole("status", { name: "Your subscription" });
  await expect(standing.getByText("Required")).toBeVisible();
  await page.getByRole("button", { name: "Request this plan:  Starter" }).click();
  await expect(standing.getByText("Starter")).toBeVisible();
  await page.getByRole("button", { name: "Request this plan:  Growth" }).click();
  await expect(standing.getByText("Growth")).toBeVisible();
  await expect(standing.getByText("Requested", { exact: true })).toBeVisible();

  await operator("PATCH", `/businesses/${business.id}`, { subscription: "active" });
  await page.reload();
  await expect(standing.getByText("Active", { exact: true })).toBeVisible();
  await page.getByRole("button", { name: "Change to this plan: Scale" }).click();
  await expect(standing.getByText("You requested a change to Scale.")).toBeVisible();
  await page.getByRole("button", { name: "Keep this plan: Growth" }).click();
  await expect(standing.getByText("No action is needed.")).toBeVisible();
});

test("an owner enters the contact of the business, and the staff sees it and notes something", async ({
  page,
  visit,
}) => {
  const business = await newBusiness(page, "Contact shop");
  await page.goto("/account");
  await page.getByLabel("Contact name").fill("Meera");
  await page.getByLabel("GSTIN").fill("29AAGCB7383J1Z5");
  await page.getByRole("button", { name: "Save contact" }).click();
  await expect(page.getByText("GSTIN must be the 15 characters of the GST certificate")).toBeVisible();
  await page.getByLabel("GSTIN").fill("29aagcb7383j1z4");
  await page.getByRole("button", { name: "Save contact" }).click();
  await expect(page.getByText("Saved.")).toBeVisible();
  await check(page, "account-contact", { bothSizes: true });

  const staff = await visit();
  await logInAsOperator(staff);
  await staff.goto(`/operator/businesses/${business.id}?tab=contact`);
  await expect(staff.getByLabel("GSTIN")).toHaveValue("29AAGCB7383J1Z4");
  const pickup = staff.getByRole("region", { name: "Pickup profile" });
  await expect(pickup.getByText("Not filled in yet.")).toBeVisible();
  await ask(page, "PUT", "/pickup-profile", PICKUP_PROFILE, 200);
  await staff.reload();
  await expect(pickup.getByText(PICKUP_PROFILE.addressLine1)).toBeVisible();
  await staff.getByRole("button", { name: "Add note" }).click();
  await expect(staff.getByText("Enter the note.")).toBeVisible();
  await staff.getByLabel("New note").fill("Pays on time\nAsk for Meera");
  await staff.getByRole("button", { name: "Add note" }).click();
  await expect(row(staff, "Notes of the staff", "Pays on time")).toBeVisible();
  await expect(staff.getByLabel("New note")).toHaveValue("");
  await check(staff, "operator-business-contact", { bothSizes: true });
});
