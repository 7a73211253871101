"""A Django app with the tables of the sync record and the receiver: add `waybill.django` to INSTALLED_APPS."""
