from django.apps import AppConfig


class WaybillConfig(AppConfig):
    name = "waybill.django"
    label = "waybill"
    default_auto_field = "django.db.models.BigAutoField"
