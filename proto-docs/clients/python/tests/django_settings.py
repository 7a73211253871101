"""A Django project for tests and for `makemigrations`."""

import os

INSTALLED_APPS = ["waybill.django"]
DATABASES = {
    "default": {
        "ENGINE": os.environ.get("DJANGO_ENGINE", "django.db.backends.sqlite3"),
        "NAME": os.environ.get("DJANGO_NAME", ":memory:"),
        "HOST": os.environ.get("DJANGO_HOST", ""),
        "PORT": os.environ.get("DJANGO_PORT", ""),
        "USER": os.environ.get("DJANGO_USER", ""),
        "PASSWORD": os.environ.get("DJANGO_PASSWORD", ""),
        "OPTIONS": {} if "DJANGO_ENGINE" in os.environ else {"timeout": 20},
    }
}
ROOT_URLCONF = "tests.test_django"
ALLOWED_HOSTS = ["*"]
SECRET_KEY = "for-tests"
USE_TZ = True
