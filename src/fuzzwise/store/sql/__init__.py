"""The store in SQL, through SQLAlchemy Core: tables, migrations, writing and reading."""
